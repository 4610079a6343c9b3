// Handlers for markets: listings, books, prices, volumes, open interest, funding and candles.

import { DAY_MS } from '../../core/time.ts'
import type { Level, Levels } from '../../protocol/feed/block.ts'
import { markPx, midPx } from '../exchange/exchange.ts'
import { amountOf, formatAmount, notional, UNIT } from '../exchange/fixed-point.ts'
import { fundingRate, premium } from '../exchange/funding.ts'
import { type Market, perpsOf } from '../exchange/market.ts'
import type { Side } from '../exchange/order.ts'
import type { OrderBook } from '../exchange/order-book.ts'
import { isAtCap, openInterest } from '../exchange/order-check.ts'
import { forDex, type InfoContext, type InfoHandlers, isWithin, listedMarket, NOT_FOUND } from './handler.ts'
import * as listing from './listing.ts'

/** Notional that defines impact prices, USDC. */
const IMPACT_NTL = 20_000n * UNIT

/** The part of a market's context that all kinds have. Volumes cover the last 24 hours, counted in whole hours. */
function contextOf({ exchange: x, history }: InfoContext, market: Market) {
  const now = x.block.timeMs
  const hours = history.candles[market.id]!.within('1h', now - DAY_MS, now)
  const mid = midPx(x, market.id)
  return {
    prevDayPx: hours[0]?.candle.o ?? formatAmount(market.base),
    dayNtlVlm: formatAmount(hours.reduce((sum, { ntl }) => sum + ntl, 0n)),
    markPx: formatAmount(markPx(x, market.id)),
    midPx: mid === null ? null : formatAmount(mid),
    dayBaseVlm: formatAmount(hours.reduce((sum, { candle }) => sum + amountOf(candle.v), 0n)),
  }
}

/** Average price of the impact notional on one side; null if the book is too thin. */
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

function perpContext(context: InfoContext, market: Market) {
  const x = context.exchange
  const base = contextOf(context, market)
  const impact = (['B', 'A'] as const).flatMap((side) => impactPx(x.books[market.id]!, side) ?? [])
  return {
    ...base,
    funding: formatAmount(fundingRate(x, market.id)),
    openInterest: formatAmount(openInterest(x, market)),
    premium: base.midPx === null ? null : formatAmount(premium(x, market.id)),
    oraclePx: formatAmount(x.quotes[market.id]!.fair),
    impactPxs: impact.length === 2 ? impact.map(formatAmount) : null,
  }
}

function spotContext(context: InfoContext, market: Market) {
  const { tokenSupply, tokenFees } = context.exchange.pools
  const total = tokenSupply[market.token]!
  return {
    ...contextOf(context, market),
    // Fees charged in the token belong to no wallet, so they do not count as circulating.
    circulatingSupply: formatAmount(total - tokenFees[market.token]!),
    coin: market.coin,
    totalSupply: formatAmount(total),
  }
}

/** `metaAndAssetCtxs` of one DEX (index). */
export function metaAndContexts(context: InfoContext, dex: number) {
  const perps = perpsOf(dex, context.exchange.scale.markets).map((market) => perpContext(context, market))
  return [listing.meta(context.exchange, dex), [...perps, ...listing.inactivePerpsOf(dex).map(listing.inactiveContext)]]
}

/** `spotMetaAndAssetCtxs`. */
export function spotMetaAndContexts(context: InfoContext) {
  const spots = context.exchange.scale.markets.filter(({ kind }) => kind === 'spot')
  return [listing.spotMeta(context.exchange), spots.map((market) => spotContext(context, market))]
}

/** Coins of a DEX at their open-interest cap. */
export function atCap({ exchange: x }: InfoContext, dex: number): string[] {
  return perpsOf(dex, x.scale.markets)
    .filter((market) => isAtCap(x, market))
    .map(({ coin }) => coin)
}

/** Levels per side in `l2Book`. */
const DEPTH = 20

/**
 * Levels merged at `figures` significant figures, in steps of `mantissa` in the last figure. Null: levels at exact
 * prices.
 */
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

/** History rows are oldest first. An unknown coin has a null book; an unknown table is NOT_FOUND. */
export const MARKET_HANDLERS: InfoHandlers = {
  meta: forDex(({ exchange }, dex) => listing.meta(exchange, dex)),
  allPerpMetas: ({ exchange }) => exchange.scale.dexes.map((_name, dex) => listing.meta(exchange, dex)),
  perpDexs: ({ exchange }, _fields, example) => listing.perpDexs(exchange, example),
  perpDexLimits: ({ exchange }, { dex = '' }, example) => listing.perpDexLimits(exchange, dex, example),
  spotMeta: ({ exchange }) => listing.spotMeta(exchange),
  outcomeMeta: (_scene, _fields, example) => listing.outcomeMeta(example),
  marginTable: (_scene, { id }) => listing.marginTable(id) ?? NOT_FOUND,
  allMids: forDex(({ exchange }, dex) => listing.allMids(exchange, dex)),
  l2Book: ({ exchange: x }, { coin, nSigFigs, mantissa }) => {
    const market = listedMarket(x, coin)
    if (listing.INACTIVE_PXS.has(coin)) return { coin, time: x.block.timeMs, levels: [[], []] }
    if (market === undefined) return null
    const levels = l2Levels(x.books[market.id]!, nSigFigs ?? null, mantissa ?? 1)
    return { coin, time: x.block.timeMs, levels }
  },
  exchangeStatus: ({ exchange }) => ({ specialStatuses: null, time: exchange.block.timeMs }),
  metaAndAssetCtxs: forDex(metaAndContexts),
  spotMetaAndAssetCtxs: (context) => spotMetaAndContexts(context),
  perpsAtOpenInterestCap: forDex(atCap),
  fundingHistory: ({ exchange }, { coin, ...window }, [row]) => {
    if (listing.INACTIVE_PXS.has(coin)) return []
    const market = listedMarket(exchange, coin)
    if (market?.kind !== 'perp') return NOT_FOUND
    const rate = formatAmount(fundingRate(exchange, market.id))
    return [{ ...row, coin, fundingRate: rate }].filter(isWithin(window))
  },
  candleSnapshot: (
    { exchange, history },
    { req: { coin, interval, startTime = 0, endTime = Number.POSITIVE_INFINITY } },
  ) => {
    if (listing.INACTIVE_PXS.has(coin)) return []
    const market = listedMarket(exchange, coin)
    if (market === undefined) return NOT_FOUND
    return history.candles[market.id]!.within(interval, startTime, endTime).map(({ candle }) => candle)
  },
}
