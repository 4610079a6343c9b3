// A day of candles before the first block, so that a chart is full at the first start. It depends on the seed and the
// time of the first block only. Invariants: a minute opens at the close of the previous one; the last one closes at the
// price at which the exchange starts; prices have the range and the ticks of the price walk.

import { type Candle, type CandlePart, candleOf, spanOf } from '../../archive/candles.ts'
import type { Interval } from '../../core/candle-interval.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { type Market, marketAt } from '../exchange/market.ts'
import { Prng, seedState } from '../exchange/prng.ts'

/** One minute. Prices are in ticks of the market, `lots` in its smallest size. */
export interface PastMinute {
  /** Start, Unix ms. */
  readonly t: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly lots: number
  readonly trades: number
}

/** A candle and the USDC traded in it. */
export interface CandleVolume {
  candle: Candle
  ntl: bigint
}

const MINUTES = 1_440
/** Standard deviation of a minute's step: in those of a block, and the share of bursts. The price walk's are wilder. */
const MINUTE_STEPS = 30
const BURSTS = { big: 0.0015, other: 0.004 }
/** Part of the distance to the base that a minute takes back, as by the price walk. */
const PULL = 0.034
/** Separates this generator from those of the exchange. */
const SEED_STEP = 7_919
/** Average USDC per minute, which differs between markets, and per trade. */
const MINUTE_USD = { big: 650_000, other: 150_000 }
const TRADE_USD = 2_000

/** The minutes before that of the first block, oldest first. */
export function pastDay(market: Market, seed: number, firstBlockMs: number): PastMinute[] {
  const own = market.complementOf === null ? market : marketAt(market.complementOf)
  const rng = new Prng(seedState(seed + SEED_STEP * (own.id + 1)))
  const prices = pastPrices(own, rng)
  const usual = (own.big ? MINUTE_USD.big : MINUTE_USD.other) * (0.3 + 1.4 * share(rng))
  const endMs = spanOf('1m', firstBlockMs).t
  const minutes = prices.slice(1).map((close, i) => {
    const open = prices[i]!
    const reach = () => Math.floor(Math.abs(normal(rng)) * deviation(own) * close * 0.6)
    const usd = usual * (0.3 + 1.4 * share(rng))
    const lotUsd = (close * Number(own.tick) * Number(own.lot)) / 1e16
    return {
      t: endMs - (MINUTES - i) * MINUTE_MS,
      open,
      close,
      high: Math.max(open, close) + reach(),
      low: Math.max(1, Math.min(open, close) - reach()),
      lots: Math.max(1, Math.round(usd / lotUsd)),
      trades: Math.max(1, Math.round(usd / TRADE_USD)),
    }
  })
  return own === market ? minutes : minutes.map((minute) => mirrored(minute, Number(UNIT / market.tick)))
}

/** Prices of the minutes' ends, in ticks, oldest first; the last is the base. Walked backward from there. */
function pastPrices(market: Market, rng: Prng): number[] {
  const base = Number(market.base / market.tick)
  const prices = [base]
  let price = base
  for (let i = 0; i < MINUTES; i++) {
    price += price * deviation(market) * normal(rng) + (base - price) * PULL
    price = Math.min(base * 1.35, Math.max(base * 0.75, price))
    prices.push(Math.max(1, Math.round(price)))
  }
  return prices.reverse()
}

/** Relative standard deviation of a minute's step. */
const deviation = ({ volatility, big }: Market) => (volatility * MINUTE_STEPS) / 1e6 + (big ? BURSTS.big : BURSTS.other)

/** In [0, 1). */
const share = (rng: Prng) => rng.below(1_000_000) / 1e6

/** Nearly normally distributed with standard deviation 1: the sum of four draws. */
const normal = (rng: Prng) => (share(rng) + share(rng) + share(rng) + share(rng) - 2) * Math.sqrt(3)

/** The same minute of the other side of an outcome; `one`: ticks of one dollar. */
function mirrored({ open, high, low, close, ...rest }: PastMinute, one: number): PastMinute {
  return { ...rest, open: one - open, high: one - low, low: one - high, close: one - close }
}

/** Candles of these minutes that overlap [fromMs, toMs], oldest first. */
export function pastCandles(
  market: Market,
  minutes: readonly PastMinute[],
  interval: Interval,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): CandleVolume[] {
  const periods = Map.groupBy(minutes, ({ t }) => spanOf(interval, t).t)
  return [...periods]
    .filter(([t]) => t <= toMs && spanOf(interval, t).T >= fromMs)
    .map(([t, parts]) => candleVolume(market, t, parts, interval))
}

function candleVolume(market: Market, t: number, parts: readonly PastMinute[], interval: Interval): CandleVolume {
  const px = (ticks: number) => formatAmount(BigInt(ticks) * market.tick)
  const part: CandlePart = {
    t,
    o: px(parts[0]!.open),
    c: px(parts.at(-1)!.close),
    h: px(Math.max(...parts.map(({ high }) => high))),
    l: px(Math.min(...parts.map(({ low }) => low))),
    v: formatAmount(BigInt(sum(parts, ({ lots }) => lots)) * market.lot),
    n: sum(parts, ({ trades }) => trades),
  }
  // Prices of a minute differ little, so its close stands for all of them.
  const ntl = parts.reduce((all, { lots, close }) => all + BigInt(lots) * BigInt(close), 0n)
  return { candle: candleOf(part, market.coin, interval), ntl: (ntl * market.lot * market.tick) / UNIT }
}

const sum = (parts: readonly PastMinute[], of: (minute: PastMinute) => number) =>
  parts.reduce((all, minute) => all + of(minute), 0)
