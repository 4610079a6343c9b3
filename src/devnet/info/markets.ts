// Answers about markets: what is listed, books, prices, volumes, open interest, funding and candles.

import { DAY_MS } from '../../core/time.ts'
import type { Level, Levels } from '../../protocol/feed/block.ts'
import { type Exchange, markPx, midPx } from '../exchange/exchange.ts'
import { amountOf, formatAmount, notional, UNIT } from '../exchange/fixed-point.ts'
import { fundingRate, premium } from '../exchange/funding.ts'
import { type Market, perpsOf } from '../exchange/market.ts'
import type { Side } from '../exchange/order.ts'
import type { OrderBook } from '../exchange/order-book.ts'
import { isAtCap, openInterest } from '../exchange/order-check.ts'
import { type Answers, isWithin, listedMarket, NOTHING, ofDex, type Scene } from './answer.ts'
import * as listing from './listing.ts'

/** Rows of one answer. */
const MAX_FUNDINGS = 500
/** Impact prices are those at which this notional would trade, USDC. */
const IMPACT_NTL = 20_000n * UNIT

/** The last 24 hours of a market, in whole hours. */
function dayOf({ exchange, past }: Scene, market: Market) {
  const now = exchange.block.timeMs
  const hours = past.candles[market.id]!.within('1h', now - DAY_MS, now)
  return {
    prevDayPx: hours[0]?.candle.o ?? formatAmount(market.base),
    dayNtlVlm: formatAmount(hours.reduce((sum, { ntl }) => sum + ntl, 0n)),
    dayBaseVlm: formatAmount(hours.reduce((sum, { candle }) => sum + amountOf(candle.v), 0n)),
  }
}

/** Average price of the impact notional on one side; null where the book has not that much. */
function impactPx(book: OrderBook, side: Side): bigint | null {
  let left = IMPACT_NTL
  let size = 0n
  for (const { px, sz } of book.levelsOf(side)) {
    const ntl = notional(px, sz)
    if (ntl >= left) return (IMPACT_NTL * UNIT) / (size + (left * UNIT) / px)
    left -= ntl
    size += sz
  }
  return null
}

function impactPxs(x: Exchange, market: Market): [string, string] | null {
  const bid = impactPx(x.books[market.id]!, 'B')
  const ask = impactPx(x.books[market.id]!, 'A')
  return bid === null || ask === null ? null : [formatAmount(bid), formatAmount(ask)]
}

const orNull = (amount: bigint | null) => (amount === null ? null : formatAmount(amount))

function perpContext(scene: Scene, market: Market) {
  const x = scene.exchange
  const day = dayOf(scene, market)
  const mid = midPx(x, market.id)
  return {
    funding: formatAmount(fundingRate(x, market.id)),
    openInterest: formatAmount(openInterest(x, market)),
    prevDayPx: day.prevDayPx,
    dayNtlVlm: day.dayNtlVlm,
    premium: mid === null ? null : formatAmount(premium(x, market.id)),
    oraclePx: formatAmount(x.quotes[market.id]!.fair),
    markPx: formatAmount(markPx(x, market.id)),
    midPx: orNull(mid),
    impactPxs: impactPxs(x, market),
    dayBaseVlm: day.dayBaseVlm,
  }
}

function spotContext(scene: Scene, market: Market) {
  const { exchange: x } = scene
  const day = dayOf(scene, market)
  // Fees taken in the token are held by nobody, so they do not circulate.
  const total = x.pools.tokenSupply[market.token]!
  return {
    prevDayPx: day.prevDayPx,
    dayNtlVlm: day.dayNtlVlm,
    markPx: formatAmount(markPx(x, market.id)),
    midPx: orNull(midPx(x, market.id)),
    circulatingSupply: formatAmount(total - x.pools.tokenFees[market.token]!),
    coin: market.coin,
    totalSupply: formatAmount(total),
    dayBaseVlm: day.dayBaseVlm,
  }
}

/** `metaAndAssetCtxs` of one DEX (index). */
export function metaAndContexts(scene: Scene, dex: number) {
  const perps = perpsOf(dex, scene.exchange.scale.markets).map((market) => perpContext(scene, market))
  return [listing.meta(scene.exchange, dex), [...perps, ...listing.quietPerpsOf(dex).map(listing.quietContext)]]
}

/** `spotMetaAndAssetCtxs`. */
export function spotMetaAndContexts(scene: Scene) {
  const spots = scene.exchange.scale.markets.filter(({ kind }) => kind === 'spot')
  return [listing.spotMeta(scene.exchange), spots.map((market) => spotContext(scene, market))]
}

/** Coins of a DEX that nobody may open now. */
export function atCap({ exchange: x }: Scene, dex: number): string[] {
  return perpsOf(dex, x.scale.markets)
    .filter((market) => isAtCap(x, market))
    .map(({ coin }) => coin)
}

/** Levels of a side in `l2Book`. */
const DEPTH = 20

/** Levels merged at `figures` significant figures (and a step of `mantissa` in the last); all prices where null. */
function l2Levels(book: OrderBook, figures: number | null, mantissa: number): Levels {
  if (figures === null) return book.levels(DEPTH)
  const step = (px: bigint) => {
    const digits = px.toString().length
    return digits > figures ? BigInt(mantissa) * 10n ** BigInt(digits - figures) : BigInt(mantissa)
  }
  const down = (px: bigint) => px - (px % step(px))
  const up = (px: bigint) => (px % step(px) === 0n ? px : down(px) + step(px))
  return [merge(book, 'B', down), merge(book, 'A', up)]
}

function merge(book: OrderBook, side: Side, round: (px: bigint) => bigint): Level[] {
  const merged: { px: bigint; sz: bigint; n: number }[] = []
  for (const { px: exact, sz, n } of book.levelsOf(side)) {
    const px = round(exact)
    const last = merged.at(-1)
    if (last?.px === px) {
      last.sz += sz
      last.n += n
    } else if (merged.length === DEPTH) break
    else merged.push({ px, sz, n })
  }
  return merged.map(({ px, sz, n }) => ({ px: formatAmount(px), sz: formatAmount(sz), n }))
}

/** Rows of history oldest first. A coin that does not exist has a book of null, a table that does not exist is nothing. */
export const MARKET_ANSWERS: Answers = {
  meta: ofDex(({ exchange }, dex) => listing.meta(exchange, dex)),
  allPerpMetas: ({ exchange }) => exchange.scale.dexes.map((_name, dex) => listing.meta(exchange, dex)),
  perpDexs: ({ exchange }) => listing.perpDexs(exchange),
  perpDexLimits: ({ exchange }, { dex = '' }) => listing.perpDexLimits(exchange, dex),
  spotMeta: ({ exchange }) => listing.spotMeta(exchange),
  outcomeMeta: (_scene, _fields, example) => listing.outcomeMeta(example),
  marginTable: (_scene, { id }) => listing.marginTable(id) ?? NOTHING,
  allMids: ofDex(({ exchange }, dex) => listing.allMids(exchange, dex)),
  l2Book: ({ exchange: x }, { coin, nSigFigs, mantissa }) => {
    const market = listedMarket(x, coin)
    if (listing.QUIET_PXS.has(coin)) return { coin, time: x.block.timeMs, levels: [[], []] }
    if (market === undefined) return null
    const levels = l2Levels(x.books[market.id]!, nSigFigs ?? null, mantissa ?? 1)
    return { coin, time: x.block.timeMs, levels }
  },
  exchangeStatus: ({ exchange }) => ({ specialStatuses: null, time: exchange.block.timeMs }),
  metaAndAssetCtxs: ofDex(metaAndContexts),
  spotMetaAndAssetCtxs: (scene) => spotMetaAndContexts(scene),
  perpsAtOpenInterestCap: ofDex(atCap),
  fundingHistory: ({ exchange, past }, { coin, ...window }) => {
    if (listing.QUIET_PXS.has(coin)) return []
    const market = listedMarket(exchange, coin)
    if (market?.kind !== 'perp') return NOTHING
    return past.fundings(coin).filter(isWithin(window)).slice(0, MAX_FUNDINGS)
  },
  candleSnapshot: (
    { exchange, past },
    { req: { coin, interval, startTime = 0, endTime = Number.POSITIVE_INFINITY } },
  ) => {
    if (listing.QUIET_PXS.has(coin)) return []
    const market = listedMarket(exchange, coin)
    if (market === undefined) return NOTHING
    return past.candles[market.id]!.within(interval, startTime, endTime).map(({ candle }) => candle)
  },
}
