// What a request costs at the public API, in its own weights. Some types cost more for every so many rows that come
// back, which is known only afterwards: the most that can come back is reserved before, and what was not used is given
// back. Law: for an answer within the documented row caps, the reserved weight is never below the weight of the answer.

const OTHER_WEIGHT = 20

const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ['l2Book', 2],
  ['allMids', 2],
  ['clearinghouseState', 2],
  ['orderStatus', 2],
  ['spotClearinghouseState', 2],
  ['exchangeStatus', 2],
  ['userRole', 60],
])

interface Rows {
  /** So many rows cost one more. */
  readonly perWeight: number
  /** The most rows of an answer; where no cap is documented, the largest of those that are. */
  readonly cap: number
}

const ROWS: ReadonlyMap<string, Rows> = new Map([
  ['historicalOrders', { perWeight: 20, cap: 2000 }],
  ['userFills', { perWeight: 20, cap: 2000 }],
  ['userFillsByTime', { perWeight: 20, cap: 2000 }],
  ['userTwapSliceFills', { perWeight: 20, cap: 2000 }],
  ['userTwapSliceFillsByTime', { perWeight: 20, cap: 2000 }],
  ['fundingHistory', { perWeight: 20, cap: 500 }],
  // Ten as measured; no cap is documented.
  ['recentTrades', { perWeight: 20, cap: 100 }],
  ['userFunding', { perWeight: 20, cap: 500 }],
  ['twapHistory', { perWeight: 20, cap: 2000 }],
  ['userNonFundingLedgerUpdates', { perWeight: 20, cap: 2000 }],
  ['delegatorHistory', { perWeight: 20, cap: 2000 }],
  ['delegatorRewards', { perWeight: 20, cap: 2000 }],
  ['candleSnapshot', { perWeight: 60, cap: 5000 }],
])

/** Weight of an answer of this type with so many rows; `rows` 0 is what a refusal costs. */
export function weightOf(type: string, rows: number): number {
  const more = ROWS.get(type)
  return (WEIGHTS.get(type) ?? OTHER_WEIGHT) + (more === undefined ? 0 : Math.ceil(rows / more.perWeight))
}

/** The most that a request of this type can cost. */
export function weightToReserve(type: string): number {
  return weightOf(type, ROWS.get(type)?.cap ?? 0)
}

/** Whether requests of these weights are like heavy: the powers of two are the bounds. */
export function areAlike(weight: number, other: number): boolean {
  return Math.clz32(weight) === Math.clz32(other)
}

/** What no request costs more than: the row types above at their caps. */
export const HEAVIEST_REQUEST = Math.max(...[...ROWS.keys(), ...WEIGHTS.keys()].map(weightToReserve))
