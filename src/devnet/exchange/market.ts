// The markets of the simulated exchange. A market's id is its index everywhere in this folder. Markets of the small
// scale are listed first, so that they have the same IDs at every scale. Ticks are chosen so that prices within the
// range of the price walk have at most five significant figures.

import { amountOf } from './fixed-point.ts'
import { type MarketRow, MORE_DEXES, type MoreMarkets, moreMarkets } from './more-markets.ts'

/** DEXes of the small scale. Index 0 is the main DEX; the others are builder-deployed. */
export const DEXES = ['', 'xyz', 'flx'] as const
/** DEXes of every scale. */
export const DEX_NAMES: readonly string[] = [...DEXES, ...MORE_DEXES]

/** Tokens of the small scale, by token number of `spotMeta`; outcome sides have no number there. */
export const TOKENS = ['USDC', 'PURR', 'HFUN', '+40', '+41'] as const
export const USDC = 0

export interface Market {
  readonly id: number
  readonly coin: string
  readonly kind: 'perp' | 'spot' | 'outcome'
  /** Index in DEX_NAMES; 0 and meaningless for spot and outcome. */
  readonly dex: number
  readonly szDecimals: number
  /** The smallest size, of which every size is a multiple. */
  readonly lot: bigint
  readonly tick: bigint
  /** Decimals of a price. */
  readonly pxDecimals: number
  /** Price to which the fair price reverts. */
  readonly base: bigint
  readonly maxLeverage: number
  /** Index in TOKEN_NAMES of the token that a spot or outcome trade moves; -1 for perps. */
  readonly token: number
  /** True for a market with deep books and frequent trades. */
  readonly big: boolean
  /** Standard deviation of the fair price's step per block, in millionths. */
  readonly volatility: number
  /** For the second side of an outcome, the id of the first side. The prices of both add up to 1. Otherwise null. */
  readonly complementOf: number | null
}

const MAIN: MarketRow[] = [
  ['BTC', 5, '81300', '1', 40, 9],
  ['ETH', 4, '3050', '0.1', 25, 12],
  ['SOL', 2, '152', '0.01', 20, 15],
  ['HYPE', 2, '34', '0.001', 10, 24],
  ['XRP', 0, '2.31', '0.0001', 20, 18],
  ['DOGE', 0, '0.182', '0.00001', 10, 24],
  ['AVAX', 2, '21.5', '0.001', 10, 24],
  ['LINK', 1, '14.2', '0.001', 10, 24],
  ['SUI', 1, '2.9', '0.0001', 10, 27],
  ['ARB', 1, '0.41', '0.00001', 10, 30],
  ['kPEPE', 0, '0.0112', '0.000001', 10, 36],
  ['WIF', 0, '0.62', '0.00001', 5, 36],
]
const BUILT: MarketRow[] = [
  ['xyz:GOLD', 4, '4020', '0.1', 20, 12],
  ['xyz:TSLA', 3, '411.2', '0.01', 10, 18],
  ['flx:OIL', 2, '62.4', '0.001', 20, 18],
  ['flx:NVDA', 3, '188.1', '0.01', 10, 18],
]
const SPOT: MarketRow[] = [
  ['PURR/USDC', 0, '0.182', '0.00001', 1, 24],
  ['@1', 2, '24.3', '0.001', 1, 24],
]
const OUTCOME: MarketRow[] = [
  ['#40', 0, '0.62', '0.001', 1, 48],
  ['#41', 0, '0.38', '0.001', 1, 0],
]

function market(row: MarketRow, id: number, kind: Market['kind'], token: number): Market {
  const [coin, szDecimals, base, tick, maxLeverage, volatility] = row
  return {
    id,
    coin,
    kind,
    dex: Math.max(0, DEX_NAMES.indexOf(coin.split(':')[0]!)),
    szDecimals,
    lot: 10n ** BigInt(8 - szDecimals),
    tick: amountOf(tick),
    pxDecimals: tick.split('.')[1]?.length ?? 0,
    base: amountOf(base),
    maxLeverage,
    token,
    big: kind === 'perp' && id < 3,
    volatility,
    complementOf: kind === 'outcome' && coin.endsWith('1') ? id - 1 : null,
  }
}

/** `firstId` and `firstToken`: the first market id and token index. */
function marketsOf({ perps, spots, outcomes }: MoreMarkets, firstId: number, firstToken: number): Market[] {
  return [
    ...perps.map((row, i) => market(row, firstId + i, 'perp', -1)),
    ...[...spots, ...outcomes].map((row, i) =>
      market(row, firstId + perps.length + i, i < spots.length ? 'spot' : 'outcome', firstToken + i),
    ),
  ]
}

/** Markets of the small scale. */
export const MARKETS: readonly Market[] = marketsOf(
  { perps: [...MAIN, ...BUILT], spots: SPOT, outcomes: OUTCOME },
  0,
  1,
)

const more = moreMarkets()
/** Markets of every scale; the index is the id. */
export const ALL_MARKETS: readonly Market[] = [...MARKETS, ...marketsOf(more, MARKETS.length, TOKENS.length)]
/** Tokens of every scale. The token of an outcome side is named `+` and its number. */
export const TOKEN_NAMES: readonly string[] = [
  ...TOKENS,
  ...more.spots.map(([coin]) => `T${coin.slice(1)}`),
  ...more.outcomes.map(([coin]) => `+${coin.slice(1)}`),
]

/** The two sides of the outcome market; their fair prices add up to 1. */
export const OUTCOME_SIDES = [MARKETS.length - 2, MARKETS.length - 1] as const

/** The market with this ID, which must exist. */
export function marketAt(id: number): Market {
  return ALL_MARKETS[id]!
}

const byCoin = new Map(ALL_MARKETS.map((m) => [m.coin, m]))

/** The market of a coin; undefined if no scale has it. */
export function marketOf(coin: string): Market | undefined {
  return byCoin.get(coin)
}

/** Perps of one DEX, in universe order. */
export function perpsOf(dex: number, markets: readonly Market[]): readonly Market[] {
  return markets.filter((m) => m.kind === 'perp' && m.dex === dex)
}
