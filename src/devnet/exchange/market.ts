// The markets of the stand-in exchange. A market's index in MARKETS is its id everywhere in this folder.
// Ticks keep prices at five significant figures within the band that the price walk keeps to.

import { amountOf } from './fixed-point.ts'

/** Index 0 is the main DEX; the others are builder-deployed. */
export const DEXES = ['', 'xyz', 'flx'] as const

/** Index is the token number of `spotMeta`; outcome sides are tokens without a number there. */
export const TOKENS = ['USDC', 'PURR', 'HFUN', '+40', '+41'] as const
export const USDC = 0

export interface Market {
  readonly id: number
  readonly coin: string
  readonly kind: 'perp' | 'spot' | 'outcome'
  /** Index in DEXES; 0 for spot and outcome, where it means nothing. */
  readonly dex: number
  readonly szDecimals: number
  /** The smallest size. */
  readonly lot: bigint
  readonly tick: bigint
  /** Price about which the walk of the fair price turns. */
  readonly base: bigint
  readonly maxLeverage: number
  /** Index in TOKENS that a spot or outcome trade moves; -1 for perps. */
  readonly token: number
  /** Deep books and frequent trades. */
  readonly big: boolean
  /** Standard step of the fair price per block, in millionths. */
  readonly volatility: number
}

type Row = [coin: string, szDecimals: number, base: string, tick: string, maxLeverage: number, volatility: number]

const MAIN: Row[] = [
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
const BUILT: Row[] = [
  ['xyz:GOLD', 4, '4020', '0.1', 20, 12],
  ['xyz:TSLA', 3, '411.2', '0.01', 10, 18],
  ['flx:OIL', 2, '62.4', '0.001', 20, 18],
  ['flx:NVDA', 3, '188.1', '0.01', 10, 18],
]
const SPOT: Row[] = [
  ['PURR/USDC', 0, '0.182', '0.00001', 1, 24],
  ['@1', 2, '24.3', '0.001', 1, 24],
]
const OUTCOME: Row[] = [
  ['#40', 0, '0.62', '0.001', 1, 48],
  ['#41', 0, '0.38', '0.001', 1, 0],
]

function market(row: Row, id: number, kind: Market['kind'], token: number): Market {
  const [coin, szDecimals, base, tick, maxLeverage, volatility] = row
  const dex = Math.max(0, (DEXES as readonly string[]).indexOf(coin.split(':')[0]!))
  const lot = 10n ** BigInt(8 - szDecimals)
  const big = kind === 'perp' && id < 3
  return {
    id,
    coin,
    kind,
    dex,
    szDecimals,
    lot,
    tick: amountOf(tick),
    base: amountOf(base),
    maxLeverage,
    token,
    big,
    volatility,
  }
}

const firstSpot = MAIN.length + BUILT.length

export const MARKETS: readonly Market[] = [
  ...[...MAIN, ...BUILT].map((row, i) => market(row, i, 'perp', -1)),
  ...SPOT.map((row, i) => market(row, firstSpot + i, 'spot', 1 + i)),
  ...OUTCOME.map((row, i) => market(row, firstSpot + SPOT.length + i, 'outcome', 1 + SPOT.length + i)),
]

/** The two sides of the outcome market; their fair prices add up to 1. */
export const OUTCOME_SIDES = [MARKETS.length - 2, MARKETS.length - 1] as const

const byCoin = new Map(MARKETS.map((m) => [m.coin, m]))

/** Undefined: no such coin on this exchange. */
export function marketOf(coin: string): Market | undefined {
  return byCoin.get(coin)
}

/** Perps of one DEX, in universe order. */
export function perpsOf(dex: number): readonly Market[] {
  return MARKETS.filter((m) => m.kind === 'perp' && m.dex === dex)
}
