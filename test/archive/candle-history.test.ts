// Candles of files and log are those of all trades at once, wherever files are cut and the log begins; of which trades may be
// missing, none is told.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { candleHistory, candlesWithin, needsLog } from '../../src/archive/candle-history.ts'
import type { CandlesRequest, TimeSpan } from '../../src/archive/candles.ts'
import { BASE_INTERVALS, baseOf, spanOf } from '../../src/archive/candles.ts'
import type { Level } from '../../src/archive/files/levels.ts'
import type { FillHistory } from '../../src/archive/funding-spans.ts'
import { INTERVALS, type Interval } from '../../src/core/candle-interval.ts'
import { anyTrades, COIN, type Filed, filedCandles, type TradedBlock, tradedBlock, truth } from './filed-candles.ts'

const heldOf = (blocks: readonly TradedBlock[], from: number): FillHistory => {
  const mine = blocks.slice(from)
  const first = mine[0]!
  const last = mine.at(-1)!
  return { head: { height: last.height, time: last.time }, since: first, runs: [mine] }
}
const EVER: TimeSpan = { fromMs: 0, toMs: 8e15 }
const of = (interval: Interval, window = EVER): CandlesRequest => {
  return { coin: COIN, interval, ...candlesWithin(interval, window), limit: 5_000 }
}
/** Files up to a block, cut there, days before hours before minutes. */
function cutFiles(
  blocks: readonly TradedBlock[],
  cuts: readonly number[],
  days: number,
  hours: number,
): Filed['files'] {
  const ends = [...new Set([...cuts.map((cut) => cut % blocks.length), blocks.length])].sort((a, b) => a - b)
  const levelOf = (at: number): Level => (at < days ? 2 : at < days + hours ? 1 : 0)
  return ends.map((end, at) => ({ level: levelOf(at), blocks: blocks.slice(ends[at - 1] ?? 0, end) }))
}
function ask(filed: Filed, held: FillHistory | null, request: CandlesRequest) {
  const found = filedCandles(filed, request)!
  return candleHistory(found, needsLog(found, request) ? held : null, request)
}

const cuts = fc.record({
  cuts: fc.array(fc.nat(), { maxLength: 8 }),
  days: fc.nat(4),
  hours: fc.nat(3),
  filesTo: fc.nat(),
  overlap: fc.nat(5),
})

describe.each(INTERVALS)('candles of %s', (interval) => {
  it('from files, however they are cut, and from the log equal the candles of all trades', () => {
    fc.assert(
      fc.property(anyTrades(), cuts, fc.nat(99), fc.nat(99), (some, cut, from, length) => {
        const blocks = [tradedBlock(0, some[0]!.time - 40 * 86_400_000, []), ...some]
        const filesTo = 1 + (cut.filesTo % blocks.length)
        const files = cutFiles(blocks.slice(0, filesTo), cut.cuts, cut.days, cut.hours)
        const logFrom = Math.min(Math.max(0, filesTo - cut.overlap), blocks.length - 1)
        const fromMs = blocks[0]!.time + 1
        const endMs = blocks.at(-1)!.time
        const within = (share: number) => fromMs + Math.floor(((endMs - fromMs) * share) / 99)
        const request = of(interval, { fromMs: within(from), toMs: within(Math.min(99, from + length)) })
        const { candles, incomplete, isIncomplete } = ask({ files }, heldOf(blocks, logFrom), request)
        const all = truth(blocks, interval).filter(({ t, T }) => T >= request.fromMs && t <= request.toMs)
        expect(candles).toEqual(all.filter((candle) => !isIncomplete(candle)))
        // But for the one that may have begun before the files, all.
        const [first] = blocks
        expect(all.filter(isIncomplete).every(({ t }) => t <= first!.time)).toBe(true)
        expect(incomplete === null).toBe(request.fromMs > first!.time)
      }),
      { numRuns: 60 },
    )
  })
})

it('the base of an interval is the longest interval that divides it', () => {
  const bases = INTERVALS.map((interval) => [interval, baseOf(interval).base])
  expect(Object.fromEntries(bases)).toEqual({
    '1m': '1m',
    '3m': '1m',
    '5m': '1m',
    '15m': '15m',
    '30m': '15m',
    '1h': '1h',
    '2h': '1h',
    '4h': '4h',
    '8h': '4h',
    '12h': '4h',
    '1d': '1d',
    '3d': '1d',
    '1w': '1d',
    '1M': '1d',
  })
  for (const interval of INTERVALS)
    for (const t of [Date.UTC(2026, 0, 31), Date.UTC(2028, 1, 29, 23), Date.UTC(2026, 11, 31, 23, 59)]) {
      const span = spanOf(interval, t)
      const part = spanOf(baseOf(interval).base, t)
      expect(part.t >= span.t && part.T <= span.T).toBe(true)
    }
  expect(BASE_INTERVALS.every((base) => baseOf(base).parts === 1)).toBe(true)
})

describe('a candle', () => {
  const MINUTE = 60_000
  const T0 = Date.UTC(2026, 10, 5)
  /** A trade each twenty seconds, three a minute. */
  const blocks = Array.from({ length: 30 }, (_, at) => tradedBlock(at + 1, T0 + at * 20_000, [{ px: at + 1, sz: 100 }]))
  const files = (to: number, from = 0) => [{ level: 0 as const, blocks: blocks.slice(from, to) }]
  const minutes = (found: { candles: readonly { t: number }[] }) => found.candles.map(({ t }) => (t - T0) / MINUTE)
  const request = of('1m', { fromMs: T0, toMs: T0 + 60 * MINUTE })

  it('is returned if its last trade is in the log; the open candle is returned up to the last block', () => {
    const found = ask({ files: files(16) }, heldOf(blocks.slice(0, 29), 10), request)
    expect(minutes(found)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(found.candles.at(-1)).toMatchObject({ o: '28.0', c: '29.0', n: 2 })
    expect(found).toMatchObject({ head: { height: 29 }, since: { height: 1 }, untilMs: null })
    const closed = ask({ files: files(30) }, heldOf(blocks, 29), request)
    expect(closed.candles.at(-1)).toMatchObject({ o: '28.0', c: '30.0', n: 3 })
  })

  it('that starts before the files is incomplete', () => {
    const found = ask({ files: files(20, 4) }, heldOf(blocks, 15), request)
    expect(minutes(found)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    expect(found.incomplete).toEqual({ fromMs: T0, toMs: T0 + 2 * MINUTE - 1 })
    expect(found.since.height).toBe(5)
  })

  it('around a gap, or between late files and the log, is incomplete', () => {
    const gaps = [{ fromMs: blocks[7]!.time, toMs: blocks[10]!.time }]
    const since = { height: 11, time: blocks[10]!.time }
    const gapped = ask({ files: files(20), gaps, since }, heldOf(blocks, 15), request)
    expect([minutes(gapped), gapped.since]).toEqual([[1, 4, 5, 6, 7, 8, 9], since])
    const late = ask({ files: files(12) }, heldOf(blocks, 16), request)
    expect([minutes(late), late.since.height, late.head?.height]).toEqual([[1, 2, 6, 7, 8, 9], 17, 30])
  })

  it('after the files is incomplete if the log is unavailable, and the head is unknown', () => {
    const found = ask({ files: files(13) }, null, request)
    expect([minutes(found), found.head]).toEqual([[1, 2, 3], null])
    expect(found.incomplete).toEqual({ fromMs: T0, toMs: request.toMs })
    // Nobody asks the log for what is older.
    const older = ask({ files: files(13) }, null, of('1m', { fromMs: T0 + MINUTE, toMs: T0 + 3 * MINUTE }))
    expect([minutes(older), older.incomplete, older.head]).toMatchObject([[1, 2, 3], null, { height: 13 }])
  })

  it('that contains the last block, but may lack trades, leaves the head unknown', () => {
    const found = ask({ files: files(13) }, heldOf(blocks.slice(0, 18), 12), of('1h', { fromMs: T0, toMs: T0 }))
    expect([found.candles, found.head]).toEqual([[], null])
  })

  it('is returned only if it ends before the time up to which data was read', () => {
    const found = { ...filedCandles({ files: files(20) }, request)!, untilMs: T0 + 5 * MINUTE }
    expect(needsLog(found, request)).toBe(false)
    const kept = candleHistory(found, null, request)
    expect([minutes(kept), kept.untilMs, kept.incomplete]).toEqual([
      [1, 2, 3, 4],
      T0 + 5 * MINUTE,
      { fromMs: T0, toMs: T0 + MINUTE - 1 },
    ])
  })

  it('counts no trade with an invalid amount', () => {
    const bad = tradedBlock(9, T0, [
      { px: 5, sz: 100 },
      { px: 6, sz: 100 },
    ])
    const fills = bad.fills.map(([user, fill]) => [user, { ...fill, px: fill.px === '5.0' ? 'NaN' : fill.px }] as const)
    const filed = {
      files: [{ level: 0 as const, blocks: [tradedBlock(1, T0 - 1, []), { ...bad, fills: fills as never }] }],
    }
    const told = candleHistory(filedCandles(filed, request)!, heldOf([bad], 0), request)
    expect(told.candles).toMatchObject([{ o: '6.0', n: 1 }])
  })
})
