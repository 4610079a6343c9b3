// Listed markets, as in `meta` and similar queries: those that trade, and inactive ones. The inactive markets are a
// delisted perp, a newly deployed perp that has no quotes, and the fallback outcome of a question. Inactive markets
// have empty books and no holders, so the exchange's state does not contain them. No scale trades a coin with their
// names.

import { type Exchange, midPx } from '../exchange/exchange.ts'
import { formatAmount, units } from '../exchange/fixed-point.ts'
import { DEX_NAMES, type Market, marketAt, OUTCOME_SIDES, perpsOf } from '../exchange/market.ts'
import { oiCap } from '../exchange/order-check.ts'
import { Prng, seedState } from '../exchange/prng.ts'

export type ListedPerp = Pick<Market, 'coin' | 'dex' | 'szDecimals' | 'maxLeverage'>
type InactivePerp = ListedPerp & { readonly px: string }

const INACTIVE_PERPS: readonly InactivePerp[] = [
  { coin: 'LOOM', dex: 0, szDecimals: 1, maxLeverage: 20, px: '0.37' },
  { coin: 'flx:GAS', dex: 2, szDecimals: 1, maxLeverage: 10, px: '3.1' },
]
/** The fallback outcome. Both of its sides cost 0.5. */
const INACTIVE_OUTCOME = 9

/** Coins with an empty book, and their last prices. */
export const INACTIVE_PXS: ReadonlyMap<string, string> = new Map([
  ...INACTIVE_PERPS.map(({ coin, px }) => [coin, px] as const),
  ...[0, 1].map((side) => [`#${10 * INACTIVE_OUTCOME + side}`, '0.5'] as const),
])

export const inactivePerpsOf = (dex: number) => INACTIVE_PERPS.filter((perp) => perp.dex === dex)
export const inactivePerp = (coin: string) => INACTIVE_PERPS.find((perp) => perp.coin === coin)
/** Every perp of a DEX in universe order. */
const listedOn = ({ scale }: Exchange, dex: number) => [...perpsOf(dex, scale.markets), ...inactivePerpsOf(dex)]

/** Context of a market that has no orders, trades or positions. */
export function inactiveContext({ px }: InactivePerp) {
  const nothing = { funding: '0.0', openInterest: '0.0', prevDayPx: px, dayNtlVlm: '0.0' }
  return { ...nothing, premium: null, oraclePx: px, markPx: px, midPx: null, impactPxs: null, dayBaseVlm: '0.0' }
}

const CHANGED = '2026-09-01T12:00:00.123456789'
const SCALED = { lastFeeScaleChangeTime: CHANGED, deployerFeeScale: '1.0' }
const GROWING = { growthMode: 'enabled', lastGrowthModeChangeTime: CHANGED, ...SCALED }
const FLAGS: Readonly<Record<string, object>> = {
  LOOM: { onlyIsolated: true, isDelisted: true, marginMode: 'strictIsolated' },
  'flx:GAS': { onlyIsolated: true, marginMode: 'noCross', ...GROWING },
  'xyz:GOLD': GROWING,
  'flx:OIL': { ...SCALED, lastFeeScaleChangeTime: null },
}

/** By table ID: the leverage, and the lower leverage beyond a notional (in USDC) that no position reaches. */
const TIERS: Readonly<
  Record<number, readonly [description: string, from: number, beyond: number, lowerBound: number]>
> = {
  50: ['', 50, 50, 0],
  51: ['tiered 10x', 10, 5, 30_000_000],
  55: ['tiered 25x', 25, 15, 100_000_000],
  56: ['tiered 40x', 40, 20, 150_000_000],
}
const TABLE_OF: Readonly<Record<string, number>> = { BTC: 56, ETH: 55, kPEPE: 51 }
/** A table ID below this means a single tier with this number as leverage. The other tables are listed. */
const FIRST_LISTED_TABLE = 50

/** A margin table; undefined if there is none with this ID. */
export function marginTable(id: number) {
  if (id >= 1 && id < FIRST_LISTED_TABLE)
    return { description: '', marginTiers: [{ lowerBound: '0.0', maxLeverage: id }] }
  const tiers = TIERS[id]
  if (tiers === undefined) return undefined
  const [description, from, beyond, lowerBound] = tiers
  const first = { lowerBound: '0.0', maxLeverage: from }
  const second = { lowerBound: formatAmount(units(lowerBound)), maxLeverage: beyond }
  return { description, marginTiers: lowerBound === 0 ? [first] : [first, second] }
}

/** `meta` of one DEX (index). */
export function meta(x: Exchange, dex: number) {
  const universe = listedOn(x, dex).map(({ coin, szDecimals, maxLeverage }) => ({
    szDecimals,
    name: coin,
    maxLeverage,
    marginTableId: TABLE_OF[coin] ?? maxLeverage,
    ...FLAGS[coin],
  }))
  const listed = dex === 0 ? Object.keys(TIERS).map(Number) : []
  return { universe, marginTables: listed.map((id) => [id, marginTable(id)]), collateralToken: 0 }
}

export const TRADED_OUTCOME = Math.floor(Number(marketAt(OUTCOME_SIDES[0]).coin.slice(1)) / 10)

// biome-ignore lint/suspicious/noExplicitAny: the example of a query, which its schema knows
type Example = any

/** The outcome that trades, and the fallback outcome of a question whose third outcome was settled earlier. */
export function outcomeMeta(example: Example) {
  const [{ deployer, venue, deployerFeeScale, ...outcome }] = example.outcomes
  const open = { ...outcome, sideSpecs: [{ name: 'Yes' }, { name: 'No' }] }
  const settled = [TRADED_OUTCOME - 1]
  return {
    ...example,
    outcomes: [
      {
        ...open,
        outcome: TRADED_OUTCOME,
        name: 'BTC above 81300',
        description: 'class:priceBinary|underlying:BTC|expiry:20280101-0000|targetPrice:81300',
      },
      { ...open, outcome: INACTIVE_OUTCOME, name: 'Neither', deployer, venue, deployerFeeScale },
    ],
    questions: [
      {
        ...example.questions[0],
        name: 'The price of BTC in 2028',
        description: 'class:priceBuckets|underlying:BTC|expiry:20280101-0000',
        fallbackOutcome: INACTIVE_OUTCOME,
        namedOutcomes: [...settled, TRADED_OUTCOME],
        settledNamedOutcomes: settled,
      },
    ],
  }
}

/** Decimals of the numbered tokens: USDC, PURR, HFUN. */
const TOKEN_DECIMALS = [
  { szDecimals: 8, weiDecimals: 8 },
  { szDecimals: 0, weiDecimals: 5 },
  { szDecimals: 2, weiDecimals: 8 },
]

const MADE_UP_DECIMALS = { szDecimals: 2, weiDecimals: 8 }

const oiCaps = (x: Exchange, dex: number) => listedOn(x, dex).map(({ coin }) => [coin, formatAmount(oiCap(coin))])

const forEachPerp = (x: Exchange, dex: number, amount: string) => listedOn(x, dex).map(({ coin }) => [coin, amount])

/** `perpDexs`: all DEXes. The first element, which is for the main DEX, is null. */
export function perpDexs(x: Exchange, [, example]: Example) {
  return x.scale.dexes.map((name, dex) =>
    dex === 0
      ? null
      : {
          ...example,
          name,
          fullName: `${name} perps`,
          assetToStreamingOiCap: oiCaps(x, dex),
          subDeployers: [['setOracle', [example.deployer]]],
          assetToFundingMultiplier: forEachPerp(x, dex, '1.0'),
          assetToFundingInterestRate: forEachPerp(x, dex, '0.0'),
          assetToFundingClamp: forEachPerp(x, dex, '0.0005'),
        },
  )
}

/** All tokens except outcome shares, and the pairs sorted by index. */
export function spotMeta({ scale }: Pick<Exchange, 'scale'>) {
  const spots = scale.markets.filter(({ kind }) => kind === 'spot')
  return {
    universe: spots.map(({ coin, token }, index) => ({
      tokens: [token, 0],
      name: coin,
      index,
      isCanonical: index === 0,
    })),
    tokens: scale.tokens.flatMap((name, index) =>
      name.startsWith('+')
        ? []
        : {
            name,
            ...(TOKEN_DECIMALS[index] ?? MADE_UP_DECIMALS),
            index,
            tokenId: `0x${new Prng(seedState(index)).hex(16)}`,
            isCanonical: index < 2,
            evmContract: null,
            fullName: null,
            deployerTradingFeeShare: '0.0',
          },
    ),
  }
}

const dexOfCoin = (coin: string) => Math.max(0, DEX_NAMES.indexOf(coin.split(':')[0]!))

/** Mid price of every book of a DEX, or its last price. The main DEX includes spot and outcomes. */
export function allMids(x: Exchange, dex: number): Record<string, string> {
  const mids: Record<string, string> = {}
  for (const market of x.scale.markets)
    if (market.dex === dex) mids[market.coin] = formatAmount(midPx(x, market.id) ?? x.quotes[market.id]!.last)
  for (const [coin, px] of INACTIVE_PXS) if (dexOfCoin(coin) === dex) mids[coin] = px
  return mids
}

/** `perpDexLimits` of a DEX; null for the main DEX and for unknown names. */
export function perpDexLimits(x: Exchange, name: string, example: Example) {
  const dex = x.scale.dexes.indexOf(name)
  return dex <= 0 ? null : { ...example, coinToOiCap: oiCaps(x, dex) }
}
