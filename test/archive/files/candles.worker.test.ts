// Candles in R2 and D1, out of an archive of sixteen days: those of all trades at once, through failures at every write.

import { describe, expect, it } from 'vitest'
import type { ArchiveStorage } from '../../../src/archive/archive/archive-writer.store.ts'
import { type CandleHistory, candleHistory, candlesWithin } from '../../../src/archive/candle-history.ts'
import type { Candle, TimeSpan } from '../../../src/archive/candles.ts'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import type { RangeStorage } from '../../../src/archive/files/object-range.store.ts'
import { INTERVALS, type Interval } from '../../../src/core/candle-interval.ts'
import { tradedBlock, truth } from '../filed-candles.ts'
import { failing } from './compacting.worker.ts'
import { archived, compact, counted, unreadable } from './places.worker.ts'
import { quickStores } from './quick-stores.worker.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 9, 5)
/** Not a part of an hour: spans end amid segments. */
const STEP_MS = 31 * 60_000
const SEGMENT = 7
const BLOCKS = 750
const OBJECTS = { objectBytes: 2_500 }
const COINS = ['BTC', '@107', 'flx:"x"']
const blockAt = (height: number, startMs = START_MS) => {
  const trades = COINS.flatMap((coin, at) =>
    height % (at + 1) > 0 && at > 0
      ? []
      : [0, 1].map((more) => ({ coin, px: 1 + ((7 * height + more) % 90), sz: 1 + height })),
  )
  return tradedBlock(height, startMs + height * STEP_MS, trades)
}
const BLOCK = Array.from({ length: BLOCKS }, (_, height) => blockAt(height))

const { archive, history, placeOf } = await quickStores()

const EVER: TimeSpan = { fromMs: 0, toMs: 8e15 }
async function read(
  place: ArchiveStorage & RangeStorage,
  interval: Interval,
  window = EVER,
  coin = COINS[0]!,
  limit = 5_000,
) {
  const request = { coin, interval, ...candlesWithin(interval, window), limit }
  const found = await new StoredFiles(place).candles(request)
  return candleHistory(found!, null, request)
}
/** But for the first, before which the archive began. */
const whole = (all: readonly Candle[], { isIncomplete }: CandleHistory) => all.filter((candle) => !isIncomplete(candle))
const LAST = BLOCK.at(-1)!.time

describe('an archive of sixteen days', () => {
  const place = placeOf('candles')

  it('has the candles of all trades, despite failures at every write', { timeout: 180_000 }, async () => {
    expect(await new StoredFiles(place).candles({ coin: 'BTC', interval: '1m', ...EVER, limit: 9 })).toBeNull()
    await archived(place, BLOCK, SEGMENT)
    await compact(failing(5)(place), OBJECTS)
    const { results } = await history
      .prepare(
        `SELECT level, COUNT(*) AS files, MAX(objects) AS objects FROM files WHERE chain = 'candles' AND state = 'live' GROUP BY level`,
      )
      .all<{ level: number; files: number; objects: number }>()
    expect(results.map(({ level }) => level)).toEqual([0, 1, 2])
    // Objects end amid the candles of a coin.
    expect(results.at(-1)!.objects).toBeGreaterThan(5)
    for (const interval of INTERVALS)
      for (const coin of [...COINS, 'NONE']) {
        const before = LAST - DAY_MS
        for (const toMs of [before, LAST]) {
          const window = { fromMs: 0, toMs }
          const kept = await read(place, interval, window, coin)
          const all = truth(BLOCK, interval, coin).filter(({ t }) => t <= toMs)
          expect(kept.candles, `${interval} ${coin}`).toEqual(whole(all, kept))
          expect(kept.untilMs).toBeNull()
        }
      }
    const everything = await read(place, '1h', { fromMs: 0, toMs: LAST - DAY_MS })
    expect(everything.candles.length).toBeGreaterThan(300)
    expect(everything.incomplete).toEqual({ fromMs: 0, toMs: START_MS + 3_600_000 - 1 })
  })

  it('returns exactly the candles of a window', async () => {
    for (const interval of INTERVALS) {
      const window = { fromMs: START_MS + 3.3 * DAY_MS, toMs: START_MS + 9.7 * DAY_MS }
      const kept = await read(place, interval, window)
      const all = truth(BLOCK, interval).filter(({ t, T }) => T >= window.fromMs && t <= window.toMs)
      expect(kept.candles).toEqual(whole(all, kept))
    }
  })

  it('returns as many candles of a window as requested, wherever in a page it starts', async () => {
    for (const hours of [1, 9, 17, 30, 71])
      for (const limit of [30, 45, 60, 100, 200]) {
        const kept = await read(place, '1m', { ...EVER, fromMs: START_MS + hours * 3_600_000 }, COINS[0], limit)
        expect([hours, limit, kept.untilMs === null || kept.candles.length >= limit]).toEqual([hours, limit, true])
      }
  })

  it('needs one query, and reads R2 only for the shortest candles, as few times as possible', async () => {
    const { place: asked, calls } = counted(place)
    const cost = async (interval: Interval, limit = 5_000, coin = COINS[0]) => {
      const { candles, untilMs } = await read(asked, interval, { fromMs: 0, toMs: LAST - 3 * DAY_MS }, coin, limit)
      return [...calls(), untilMs === null, candles.length >= Math.min(limit, 300)]
    }
    for (const interval of ['15m', '1h', '1d'] as const)
      expect((await cost(interval)).slice(0, 3)).toEqual([1, 0, true])
    const [, all] = (await cost('1m')) as [number, number]
    expect(all).toBeGreaterThan(12)
    expect(await cost('1m', 40)).toEqual([1, 6, false, true])
    expect((await cost('5m', 5_000, 'NONE')).slice(0, 3)).toEqual([1, 0, true])
  })

  it('returns days of longer candles up to the requested number', async () => {
    const kept = await read(place, '15m', EVER, COINS[0], 50)
    expect([kept.untilMs, kept.candles.length >= 50]).toEqual([expect.any(Number), true])
    expect(kept.candles).toEqual(whole(truth(BLOCK, '15m'), kept).slice(0, kept.candles.length))
  })

  it('with a damaged object returns no candle of it, and all others', async () => {
    const { objects } = await archive.list({ prefix: 'files/candles/day/2026-10-10/' })
    const pages = objects.filter(({ key }) => key.endsWith('.pages'))
    const good = await Promise.all(
      pages.map(async ({ key }) => [key, await (await archive.get(key))!.arrayBuffer()] as const),
    )
    for (const [at, [key]] of good.entries()) await (at % 2 ? archive.delete(key) : archive.put(key, 'x'))
    const kept = await read(place, '1m', { fromMs: 0, toMs: LAST - 3 * DAY_MS })
    const [first, last] = /(\d{12})-(\d{12})/.exec(good[0]![0])!.slice(1).map(Number) as [number, number]
    const isGood = ({ t }: Candle) => t < BLOCK[first]!.time - 60_000 || t > BLOCK[last]!.time
    const all = truth(BLOCK, '1m').filter(({ t }) => t <= LAST - 3 * DAY_MS && t > START_MS)
    expect(kept.candles).toEqual(all.filter(isGood))
    expect(kept.candles.length).toBeLessThan(all.length - 30)
    expect(kept.since.height).toBe(last + 1)
    for (const [key, body] of good) await archive.put(key, body)
    const window = { fromMs: 0, toMs: LAST - 3 * DAY_MS }
    expect((await read({ ...place, ranges: unreadable(archive) }, '1m', window)).candles).toEqual([])
    expect((await read(place, '1m', { fromMs: 0, toMs: LAST - 3 * DAY_MS })).candles).toEqual(all)
  })
})

it('a month has the candles of its days, for any window', { timeout: 180_000 }, async () => {
  const place = placeOf('month')
  const startMs = Date.UTC(2026, 9, 29)
  const blocks = Array.from({ length: 250 }, (_, height) => blockAt(height, startMs))
  await archived(place, blocks, SEGMENT)
  await compact(failing(5)(place), OBJECTS)
  const { results } = await history
    .prepare(`SELECT level FROM files WHERE chain = 'month' AND state = 'live' GROUP BY level`)
    .all<{ level: number }>()
  expect(results.map(({ level }) => level)).toEqual([0, 1, 2, 3])
  for (const interval of INTERVALS)
    for (const days of [0, 1.4, 3.2]) {
      const window = { fromMs: startMs + days * DAY_MS, toMs: startMs + (days + 1.5) * DAY_MS }
      const kept = await read(place, interval, window)
      const all = truth(blocks, interval).filter(({ t, T }) => T >= window.fromMs && t <= window.toMs)
      expect(kept.candles, interval).toEqual(whole(all, kept))
      expect(kept.untilMs).toBeNull()
    }
})

it('heights that nobody has, and lost segments, are holes with their times', async () => {
  const place = placeOf('holed')
  await archived(place, [...BLOCK.slice(0, 7), ...BLOCK.slice(21, 42)], SEGMENT)
  const { objects } = await archive.list({ prefix: 'archive/holed/' })
  await archive.delete(objects.find(({ key }) => key.includes('000028-') && key.includes('events'))!.key)
  await compact(failing(5)(place), OBJECTS)
  const kept = await read(place, '1m')
  // When the blocks were that are lost is known.
  const known = [...BLOCK.slice(1, 6), ...BLOCK.slice(22, 28), ...BLOCK.slice(35, 41)]
  expect(kept.candles).toEqual(truth(known, '1m'))
  expect(kept.since).toEqual({ height: 35, time: BLOCK[34]!.time })
})
