// Prices, volumes and open interest per market: the contexts that go with `meta` and `spotMeta`, funding and candles.

import { DAY_MS } from '../../core/time.ts'
import { type Exchange, markPx, midPx } from '../exchange/exchange.ts'
import { formatAmount, notional, UNIT } from '../exchange/fixed-point.ts'
import { fundingRate, premium } from '../exchange/funding.ts'
import { type Market, perpsOf } from '../exchange/market.ts'
import { isAtCap, openInterest } from '../exchange/open-interest.ts'
import type { Side } from '../exchange/order.ts'
import type { OrderBook } from '../exchange/order-book.ts'
import { listedMarket, NOTHING, ofDex, type Scene, type SomeAnswers } from './answer.ts'
import { meta, QUIET_PXS, quietContext, quietPerpsOf } from './listing.ts'
import { spotMeta } from './market.ts'

/** Rows of one answer. */
const MAX_FUNDINGS = 500
/** Impact prices are those at which this notional would trade, USDC. */
const IMPACT_NTL = 20_000n * UNIT

interface Day {
  readonly prevPx: bigint
  readonly ntl: bigint
  readonly base: bigint
}

/** The last 24 hours of a market, in whole hours. */
export function dayOf({ exchange, past }: Scene, market: Market): Day {
  const now = exchange.block.timeMs
  const hours = past.candles[market.id]!.within('1h', now - DAY_MS, now)
  const sum = (key: 'ntl' | 'volume') => hours.reduce((total, candle) => total + candle[key], 0n)
  return { prevPx: hours[0]?.open ?? market.base, ntl: sum('ntl'), base: sum('volume') }
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
    prevDayPx: formatAmount(day.prevPx),
    dayNtlVlm: formatAmount(day.ntl),
    premium: mid === null ? null : formatAmount(premium(x, market.id)),
    oraclePx: formatAmount(x.quotes[market.id]!.fair),
    markPx: formatAmount(markPx(x, market.id)),
    midPx: orNull(mid),
    impactPxs: impactPxs(x, market),
    dayBaseVlm: formatAmount(day.base),
  }
}

function spotContext(scene: Scene, market: Market) {
  const { exchange: x } = scene
  const day = dayOf(scene, market)
  // Fees taken in the token are held by nobody, so they do not circulate.
  const total = x.pools.tokenSupply[market.token]!
  return {
    prevDayPx: formatAmount(day.prevPx),
    dayNtlVlm: formatAmount(day.ntl),
    markPx: formatAmount(markPx(x, market.id)),
    midPx: orNull(midPx(x, market.id)),
    circulatingSupply: formatAmount(total - x.pools.tokenFees[market.token]!),
    coin: market.coin,
    totalSupply: formatAmount(total),
    dayBaseVlm: formatAmount(day.base),
  }
}

function atCap({ exchange: x }: Scene, dex: number): string[] {
  return perpsOf(dex, x.scale.markets)
    .filter((market) => isAtCap(x, market))
    .map(({ coin }) => coin)
}

/** Contexts, funding and candles; rows of history oldest first. */
export const CONTEXT_ANSWERS = {
  metaAndAssetCtxs: ofDex((scene, dex) => [
    meta(scene.exchange, dex),
    [
      ...perpsOf(dex, scene.exchange.scale.markets).map((market) => perpContext(scene, market)),
      ...quietPerpsOf(dex).map(quietContext),
    ],
  ]),
  spotMetaAndAssetCtxs: (scene) => {
    const spots = scene.exchange.scale.markets.filter(({ kind }) => kind === 'spot')
    return [spotMeta(scene.exchange), spots.map((market) => spotContext(scene, market))]
  },
  perpsAtOpenInterestCap: ofDex(atCap),
  fundingHistory: ({ exchange, past }, { coin, startTime, endTime }) => {
    const market = listedMarket(exchange, coin)
    if (QUIET_PXS.has(coin)) return []
    if (market?.kind !== 'perp') return NOTHING
    const end = endTime ?? Number.POSITIVE_INFINITY
    return past
      .fundings(market.id)
      .filter(({ timeMs }) => timeMs >= startTime && timeMs <= end)
      .slice(0, MAX_FUNDINGS)
      .map((funding) => ({
        coin,
        fundingRate: formatAmount(funding.rate),
        premium: formatAmount(funding.premium),
        time: funding.timeMs,
      }))
  },
  candleSnapshot: ({ exchange, past }, { req: { coin, interval, startTime, endTime } }) => {
    const market = listedMarket(exchange, coin)
    if (QUIET_PXS.has(coin)) return []
    if (market === undefined) return NOTHING
    const candles = past.candles[market.id]!.within(interval, startTime, endTime ?? Number.POSITIVE_INFINITY)
    return candles.map((candle) => ({
      t: candle.openMs,
      T: candle.closeMs,
      s: coin,
      i: interval,
      o: formatAmount(candle.open),
      c: formatAmount(candle.close),
      h: formatAmount(candle.high),
      l: formatAmount(candle.low),
      v: formatAmount(candle.volume),
      n: candle.trades,
    }))
  },
} satisfies SomeAnswers
