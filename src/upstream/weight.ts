// Request weights of the public API. Some types cost extra for returned rows, whose number is known only afterwards.
// The maximum is therefore reserved, and the rest is returned. Invariant: for a response within the documented row
// caps, the reservation covers its weight.

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
  /** Rows per additional weight. */
  readonly perWeight: number
  /** Maximum number of rows in a response. Caps that are not documented are estimates. */
  readonly cap: number
}

const ROWS: ReadonlyMap<string, Rows> = new Map([
  ['historicalOrders', { perWeight: 20, cap: 2000 }],
  ['userFills', { perWeight: 20, cap: 2000 }],
  ['userFillsByTime', { perWeight: 20, cap: 2000 }],
  ['userTwapSliceFills', { perWeight: 20, cap: 2000 }],
  ['userTwapSliceFillsByTime', { perWeight: 20, cap: 2000 }],
  ['fundingHistory', { perWeight: 20, cap: 500 }],
  // Ten rows were measured. No cap is documented.
  ['recentTrades', { perWeight: 20, cap: 100 }],
  ['userFunding', { perWeight: 20, cap: 500 }],
  ['twapHistory', { perWeight: 20, cap: 2000 }],
  ['userNonFundingLedgerUpdates', { perWeight: 20, cap: 2000 }],
  ['delegatorHistory', { perWeight: 20, cap: 2000 }],
  ['delegatorRewards', { perWeight: 20, cap: 2000 }],
  ['candleSnapshot', { perWeight: 60, cap: 5000 }],
])

/** Weight of a response of this type with this many rows; with 0 rows, this is the weight of a rejection. */
export function weightOf(type: string, rows: number): number {
  const more = ROWS.get(type)
  return (WEIGHTS.get(type) ?? OTHER_WEIGHT) + (more === undefined ? 0 : Math.ceil(rows / more.perWeight))
}

/** Maximum weight of a request of this type. */
export function weightToReserve(type: string): number {
  return weightOf(type, ROWS.get(type)?.cap ?? 0)
}

/** True if both weights are in the same class, bounded by powers of two. */
export function areAlike(weight: number, other: number): boolean {
  return Math.clz32(weight) === Math.clz32(other)
}

/** Maximum weight of any request: the row types above at their caps. */
export const HEAVIEST_REQUEST = Math.max(...[...ROWS.keys(), ...WEIGHTS.keys()].map(weightToReserve))
