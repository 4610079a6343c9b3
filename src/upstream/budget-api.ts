// What isolates and the budget object of a source say to each other. Types alone: the rules are in weight-bucket.ts
// (the object's side) and leased-budget.ts (the isolate's).

export const BUDGET_API_VERSION = 1

/** What became of a grant since the last exchange: weight that is not needed, and weight that is spent for good. */
export interface GrantUpdate {
  readonly grant: string
  readonly returned: number
  readonly used: number
}

/** One exchange. All weights are whole numbers. It is sent once and never repeated with its news: a return must not count twice. */
export interface BudgetRequest {
  readonly v: number
  /** Id of the grant that this exchange may open, drawn by the isolate. */
  readonly grant: string
  readonly perMinute: number
  /** The longest time between a grant and the arrival of a request that it pays for. */
  readonly spreadMs: number
  /** What the request at the head of the queue weighs; 0: none waits. */
  readonly weight: number
  /** The least that helps it, and what all waiting ones need. 0: none waits. */
  readonly least: number
  readonly need: number
  /** What the isolate would like beyond that, by its recent use. */
  readonly forecast: number
  readonly news: readonly GrantUpdate[]
  /** Weight that answers had beyond what was reserved for them: the source has counted it already. */
  readonly owed: number
}

export interface BudgetResponse {
  readonly v: number
  /** 0 where less than `least` is there. Usable within `ttlMs` of when the exchange was sent. */
  readonly granted: number
  readonly ttlMs: number
  /** Until `least` is there, 0 if it was. */
  readonly waitMs: number
  readonly left: number
}

export interface SourceBudgetApi {
  exchange(ask: BudgetRequest): Promise<BudgetResponse>
}
