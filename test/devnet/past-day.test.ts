// The day of candles before the first block.

import { describe, expect, it } from 'vitest'
import { INTERVALS } from '../../src/core/candle-interval.ts'
import { toScaled } from '../../src/core/decimal.ts'
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts'
import { createEngine, restoreEngine } from '../../src/devnet/engine.ts'
import { MARKETS, OUTCOME_SIDES } from '../../src/devnet/exchange/market.ts'
import { MAINNET } from '../../src/devnet/exchange/scale.ts'
import { pastCandles, pastDay } from '../../src/devnet/info/past-day.ts'

/** Half past an hour, on a Wednesday, near the end of a month. */
const FIRST_MS = Date.UTC(2026, 8, 30, 12, 30, 17)
const ALWAYS = { fromMs: 0, toMs: Number.MAX_VALUE }

describe('the day before the first block', () => {
  it.each(MARKETS.map((market) => [market.coin, market] as const))('%s leads to the first price', (_, market) => {
    const day = pastDay(market, 7, FIRST_MS)
    const endMs = FIRST_MS - (FIRST_MS % MINUTE_MS)
    expect(day.map(({ t }) => t)).toEqual(Array.from({ length: 1_440 }, (_, i) => endMs - DAY_MS + i * MINUTE_MS))
    expect(BigInt(day.at(-1)!.close) * market.tick).toBe(market.base)
    const low = Number((market.base * 7n) / 10n / market.tick)
    const high = Number((market.base * 14n) / 10n / market.tick)
    const wrong = day.filter((minute, i) => {
      const isJoined = i === 0 || minute.open === day[i - 1]!.close
      const isInside =
        minute.low <= Math.min(minute.open, minute.close) && minute.high >= Math.max(minute.open, minute.close)
      const isWhole = [minute.lots, minute.trades].every((count) => Number.isSafeInteger(count) && count > 0)
      return !isJoined || !isInside || !isWhole || minute.low < low || minute.high > high
    })
    expect(wrong).toEqual([])
    expect(new Set(day.map(({ close }) => close)).size).toBeGreaterThan(20)
  })

  it('depends on seed and market', () => {
    const closes = (seed: number, market: number) => pastDay(MARKETS[market]!, seed, FIRST_MS).map(({ close }) => close)
    expect(closes(7, 0)).toEqual(closes(7, 0))
    expect(closes(8, 0)).not.toEqual(closes(7, 0))
    const moves = (market: number) => closes(7, market).map((close, i, all) => Math.sign(close - (all[i - 1] ?? close)))
    expect(moves(1)).not.toEqual(moves(0))
  })

  it('the sides of an outcome add up to one dollar', () => {
    const [yes = [], no = []] = OUTCOME_SIDES.map((id) => pastDay(MARKETS[id]!, 7, FIRST_MS))
    expect(yes).toHaveLength(1_440)
    const sums = yes.flatMap(({ open, high, low, close }, i) => {
      const other = no[i]!
      return [open + other.open, close + other.close, high + other.low, low + other.high]
    })
    expect(new Set(sums)).toEqual(new Set([1_000]))
  })

  it('every interval has the same volume, and candles in order', () => {
    const market = MARKETS[0]!
    const day = pastDay(market, 7, FIRST_MS)
    const [first, ...others] = INTERVALS.map((interval) => {
      const rows = pastCandles(market, day, interval, ALWAYS)
      const times = rows.map(({ candle }) => candle.t)
      expect(times).toEqual([...times].sort((a, b) => a - b))
      const { candle: last } = rows.at(-1)!
      expect([last.i, toScaled(last.c)]).toEqual([interval, market.base * 10n ** 10n])
      return rows.reduce((sum, { candle }) => sum + toScaled(candle.v), 0n)
    })
    for (const volume of others) expect(volume).toBe(first)
  })
})

describe('an exchange', () => {
  const stepped = (scale?: typeof MAINNET) => {
    const engine = createEngine(7, { ...(scale && { scale }) })
    for (let i = 0; i < 40; i++) engine.step(BigInt(FIRST_MS) * 1_000_000n + BigInt(i) * 70_000_000n)
    return engine
  }
  const hours = (engine: ReturnType<typeof stepped>) => engine.history.candles[0]!.within('1h', 0, Number.MAX_VALUE)

  it('joins the day with its trades, also after a restart', () => {
    const engine = stepped()
    const past = pastDay(MARKETS[0]!, 7, FIRST_MS)
    const traded = engine.history.candles[0]!.within('1m', FIRST_MS - 10_000, FIRST_MS)
    expect(traded).toHaveLength(1)
    expect(hours(engine)).toHaveLength(25)
    const last = hours(engine).at(-1)!.candle
    expect(last.n).toBe(past.slice(-30).reduce((sum, { trades }) => sum + trades, 0) + traded[0]!.candle.n)
    expect(last.c).toBe(traded[0]!.candle.c)
    const restored = restoreEngine(structuredClone(engine.checkpoint()))
    // A restored engine has no trades yet.
    expect(hours(restored).slice(0, -1)).toEqual(hours(engine).slice(0, -1))
  })

  it('has none before its first block, or if it has hundreds of markets', () => {
    expect(createEngine(7).history.candles[0]!.within('1m', 0, Number.MAX_VALUE)).toEqual([])
    expect(MAINNET.hasPast).toBe(false)
  })
})
