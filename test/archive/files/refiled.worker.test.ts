// What comes into files beside the newest blocks: blocks that were backfilled, and those of files that were damaged. Each row is there
// once, wherever it came from, and what is missing is told.

import { describe, expect, it } from 'vitest'
import { segmentKey } from '../../../src/archive/archive/archive-keys.ts'
import { candleHistory, candlesWithin } from '../../../src/archive/candle-history.ts'
import { tableFiles } from '../../../src/archive/exports/exports.store.ts'
import { objectKey } from '../../../src/archive/files/file-keys.ts'
import type { Level } from '../../../src/archive/files/levels.ts'
import { failing, range, SETTLED_MS, segmentAt, timeOf, World } from './compacting.worker.ts'
import { quickStores } from './quick-stores.worker.ts'

const { archive, history, placeOf } = await quickStores()

/** Heights at whose times trades may be missing. */
async function holedOf({ files }: World, heights: readonly number[]): Promise<number[]> {
  const window = candlesWithin('1m', { fromMs: 0, toMs: timeOf(200) })
  const request = { coin: 'BTC', interval: '1m' as const, ...window, limit: 5_000 }
  const { isIncomplete } = candleHistory((await files.candles(request))!, null, request)
  return heights.filter((height) => isIncomplete({ t: timeOf(height), T: timeOf(height) + 59_999 }))
}

describe('backfilled blocks', () => {
  it('are written to files below the existing ones, and missing heights between them are reported', async () => {
    const world = new World(placeOf('below'))
    await world.log(range(100, 110))
    await world.turns()
    expect(await world.gaps()).toEqual([])
    await world.backfill(range(40, 49))
    await world.turns()
    expect(await world.rows('fills')).toEqual([...range(40, 49), ...range(100, 110)])
    expect(await world.files.coverage('fills')).toMatchObject({
      from: { height: 40, time: timeOf(40) },
      to: { height: 110, time: timeOf(110) },
      gaps: [{ from: 50, to: 99, known: null }],
    })
    await world.backfill(range(60, 61))
    await world.turns()
    expect(await world.gaps()).toEqual(['50-59', '62-99'])
    expect(await holedOf(world, range(40, 109))).toEqual([40, ...range(49, 60), ...range(61, 100)])
    await world.backfill([...range(50, 59), ...range(62, 99)])
    await world.turns()
    expect(await world.gaps()).toEqual([])
    expect(await holedOf(world, range(40, 109))).toEqual([40])
    world.nowMs = SETTLED_MS
    await world.turns()
    expect(await world.rows('fills')).toEqual(range(40, 110))
    expect(await world.rows('fills', { order: 'newest' })).toEqual(range(40, 110).reverse())
    const unfiled = history.prepare(`SELECT COUNT(*) AS n FROM unfiled WHERE chain = 'below'`)
    expect(await unfiled.first()).toEqual({ n: 0 })
  })

  it('in several bodies make hours and days like those of the log', async () => {
    const world = new World(placeOf('bodies'))
    await world.log(range(144, 148))
    await world.turns()
    for (const height of range(0, 142)) {
      await world.backfill([height])
      if (height % 5 === 0) await world.turns()
    }
    await world.turns()
    const days = async () => (await world.live()).filter((file) => file.startsWith('2'))
    expect(await days()).toEqual(['2 0-71'])
    world.nowMs = SETTLED_MS
    await world.turns()
    // Of the second day a block is missing.
    const newest = ['1 144-146', '0 147-147', '0 148-148']
    expect(await world.live()).toEqual(['2 0-71', '2 72-142', ...newest])
    expect(await world.gaps()).toEqual(['143-143'])
    await world.backfill([143])
    await world.turns()
    expect([await world.gaps(), await world.rows('fills')]).toEqual([[], range(0, 148)])
    expect(await world.live()).toEqual(['2 0-71', '2 72-142', '2 143-143', ...newest])
    expect(await world.tableRows()).toBe(2 * 147)
  })

  it.each([1, 2])('in any order, despite failures at every write, are in files once (%i)', async (seed) => {
    const world = new World(placeOf(`any-${seed}`), failing(seed))
    let state = seed
    const random = (most: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * most)
    }
    await world.log(range(90, 100))
    const missing = new Set(range(0, 89))
    for (let body = 0; body < 8; body++) {
      const from = random(89)
      const heights = range(from, Math.min(89, from + random(25))).filter(
        (height) => missing.has(height) && random(9) > 0,
      )
      for (const height of heights) missing.delete(height)
      if (heights.length > 0) await world.backfill(heights)
      world.nowMs += random(2) * SETTLED_MS
      await world.turns(random(40))
    }
    world.nowMs += SETTLED_MS
    await world.turns()
    const there = range(0, 100).filter((height) => !missing.has(height))
    expect(await world.rows('fills')).toEqual(there)
    expect(await world.rows('ledger', { order: 'newest' })).toEqual(there.toReversed())
    const lacking = (await world.gaps()).flatMap((gap) => range(...(gap.split('-').map(Number) as [number, number])))
    expect(lacking).toEqual([...missing].filter((height) => height > there[0]!).sort((a, b) => a - b))
    for (const source of tableFiles(history, world.place.chain)) {
      const files = await source.files({ fromMs: 0, toMs: 1e15 }, null, 1e6)
      const spans = new Set(files.map(({ first, last }) => `${first}-${last}`))
      const heights = [...spans].flatMap((span) => range(...(span.split('-').map(Number) as [number, number])))
      expect(new Set(heights).size).toBe(heights.length)
    }
  })

  it.each([
    ['in the hour that runs', 100, 103],
    ['over the end of a day', 60, 80],
  ])('fill a gap %s, and every list is as if it had never been', async (name, from, to) => {
    const world = new World(placeOf(`gap-${name}`), failing(from))
    await world.log([...range(0, from - 1), ...range(to + 1, 104)])
    await world.turns()
    expect(await world.gaps()).toEqual([`${from}-${to}`])
    const before = await world.rows('fills')
    await world.backfill(range(from, to))
    world.nowMs = SETTLED_MS
    // A reader sees no row twice and loses none while files are written and merged.
    for (let turn = 0, isMore = true; isMore; turn++) {
      isMore = await world.turn()
      if (turn % 7 > 0 && isMore) continue
      const rows = await world.rows('fills')
      expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b))
      expect(before.filter((height) => !rows.includes(height))).toEqual([])
    }
    expect([await world.gaps(), await world.rows('fills')]).toEqual([[], range(0, 104)])
    expect(await world.rows('ledger', { order: 'newest' })).toEqual(range(0, 104).reverse())
    expect(await holedOf(world, range(0, 103))).toEqual([0])
  })

  it('fill a gap that the files have not reached yet, and no height is skipped', async () => {
    const world = new World(placeOf('ahead'))
    await world.log([...range(0, 9), ...range(20, 30)])
    await world.turns(3)
    await world.backfill(range(12, 19))
    await world.turns()
    world.nowMs = SETTLED_MS
    await world.turns()
    expect([await world.gaps(), await world.rows('fills')]).toEqual([['10-11'], [...range(0, 9), ...range(12, 30)]])
  })

  it('with only fills have no ledger, and the files report it', async () => {
    const world = new World(placeOf('only'))
    await world.log(range(100, 104))
    await world.turns()
    for (const height of [92, 90, 91, 99, 98, 97]) {
      await world.backfill([height], 'fills')
      await world.turns()
    }
    await world.backfill(range(93, 96))
    await world.turns()
    expect(await world.gaps()).toEqual([])
    expect(await world.gaps('events')).toEqual(['90-92', '97-99'])
    expect(await world.rows('fills')).toEqual(range(90, 104))
    expect(await world.rows('ledger')).toEqual([...range(93, 96), ...range(100, 104)])
    expect(await holedOf(world, range(90, 103))).toEqual([90])
    const rows = history.prepare(`SELECT COUNT(*) AS n FROM file_gaps WHERE chain = 'only'`)
    expect(await rows.first()).toEqual({ n: 2 })
  })
})

describe('a damaged file', () => {
  const keyOf = (world: World, level: Level, first: number, last: number, number = 0) =>
    objectKey(world.place.chain, level, { first, last, firstMs: timeOf(first) }, number)
  const damages = {
    missing: async (key: string) => archive.delete(key),
    truncated: async (key: string) => {
      const body = await (await archive.get(key))!.arrayBuffer()
      await archive.put(key, body.slice(0, body.byteLength / 2))
    },
    corrupt: async (key: string) => {
      const body = new Uint8Array(await (await archive.get(key))!.arrayBuffer())
      await archive.put(key, body.fill(7, body.length / 3))
    },
  }

  it.each(Object.keys(damages) as (keyof typeof damages)[])('that is %s is written again', async (damage) => {
    const minute = [0, 70, 70] as const
    const hour = [1, 66, 68] as const
    for (const [level, first, last] of { missing: [minute, hour], truncated: [hour], corrupt: [minute] }[damage]) {
      const world = new World(placeOf(`damaged-${damage}-${level}`))
      await world.log(range(0, 71))
      await world.turns()
      const key = keyOf(world, level, first, last)
      expect(await archive.head(key)).not.toBeNull()
      await damages[damage](key)
      await world.log(range(72, 80))
      await world.turns()
      expect(world.failures).toEqual([expect.stringMatching(/\.pages .*rebuilt from/)])
      expect([await world.rows('fills'), await world.gaps()]).toEqual([range(0, 80), []])
      expect(await world.live()).toEqual(['2 0-71', '1 72-74', '1 75-77', '0 78-78', '0 79-79', '0 80-80'])
      expect(await world.tableRows()).toBe(2 * 78)
    }
  })

  it('found while its day is merged is written again, and so are the files built from it', async () => {
    const world = new World(placeOf('amid'), failing(5))
    await world.log(range(0, 80))
    for (let turns = 0; !(await world.live()).some((file) => file.startsWith('2')); turns++) {
      expect(turns).toBeLessThan(1_000)
      await world.turn()
    }
    await damages.missing(keyOf(world, 1, 66, 68))
    await world.turns()
    expect(world.failures.filter((message) => message.includes('rebuilt from'))).not.toEqual([])
    expect([await world.rows('fills'), await world.rows('ledger'), await world.gaps()]).toEqual([
      range(0, 80),
      range(0, 80),
      [],
    ])
    expect(await world.tableRows()).toBe(2 * 78)
    const known = await history
      .prepare(`SELECT (SELECT COUNT(*) FROM file_objects WHERE chain = 'amid')
      + (SELECT COUNT(*) FROM file_tables WHERE chain = 'amid')
      + (SELECT SUM(parts) FROM position_days WHERE chain = 'amid') AS n`)
      .first<{ n: number }>()
    expect((await archive.list({ prefix: 'files/amid/' })).objects).toHaveLength(known!.n)
  })

  it.each([
    [true, 'first'],
    [false, 'last'],
  ] as const)(
    'of a day found by the merge of its month is written again if archived (%s), and otherwise kept; the %s object',
    async (isKept, which) => {
      const world = new World(placeOf(`day-${isKept}-${which}`))
      // Two days of November.
      await world.log(range(648, 791))
      await world.log(range(792, 795))
      await world.turns()
      expect((await world.live()).filter((file) => file.startsWith('2'))).toEqual(['2 648-719', '2 720-791'])
      const numbers = history.prepare(`SELECT MAX(number) AS n FROM file_objects WHERE chain = ? AND first = 720`)
      // The last is met when others are in the month already.
      const last = (await numbers.bind(world.place.chain).first<number>('n'))!
      expect(last).toBeGreaterThan(1)
      await damages.missing(keyOf(world, 2, 720, 791, which === 'first' ? 0 : last))
      const retention = history.prepare(`UPDATE segments SET events_bytes = 0 WHERE chain = ? AND first < 722`)
      if (!isKept) await retention.bind(world.place.chain).run()
      await world.log(range(796, 868))
      world.nowMs = SETTLED_MS
      await world.turns()
      expect(world.failures).toEqual([expect.stringContaining(isKept ? 'rebuilt from' : 'kept and not merged')])
      expect((await world.live()).filter((file) => /^[23]/.test(file))).toEqual(
        isKept ? ['3 648-791', '2 792-863'] : ['3 648-719', '2 720-791', '2 792-863'],
      )
      expect(await world.gaps()).toEqual([])
      expect(await world.rows('fills', { from: 792 })).toEqual(range(792, 868))
      if (isKept) expect(await world.rows('fills')).toEqual(range(648, 868))
      const { objects } = await archive.list({ prefix: `files/${world.place.chain}/` })
      const known = history.prepare(`SELECT (SELECT COUNT(*) FROM file_objects WHERE chain = ?1)
      + (SELECT COUNT(*) FROM file_tables WHERE chain = ?1)
      + (SELECT SUM(parts) FROM position_days WHERE chain = ?1) AS n`)
      // The one that is missing.
      expect(objects.length).toBe((await known.bind(world.place.chain).first<number>('n'))! - (isKept ? 0 : 1))
    },
  )

  it.each(['object', 'row'] as const)(
    'is omitted if the archive has lost the %s, and the work continues',
    async (what) => {
      const world = new World(placeOf(`lost-${what}`))
      await world.log(range(0, 71))
      await world.turns()
      await damages.missing(keyOf(world, 1, 66, 68))
      if (what === 'object') await archive.delete(segmentKey(world.place.chain, segmentAt(67), 'events'))
      else await history.prepare(`DELETE FROM segments WHERE chain = ? AND first = 67`).bind(world.place.chain).run()
      await world.log(range(72, 80))
      await world.turns()
      world.nowMs = SETTLED_MS
      await world.turns()
      expect(await world.gaps()).toEqual(['67-67'])
      expect(await world.rows('fills')).toEqual(range(0, 80).filter((height) => height !== 67))
      expect(await holedOf(world, range(1, 79))).toEqual(what === 'object' ? [67] : range(66, 68))
      // Behind a hole nothing more of the day, nor of its month, will come.
      expect((await world.live()).filter((file) => /^[23]/.test(file))).toEqual(
        what === 'object' ? ['2 0-71'] : ['3 0-66', '2 68-71'],
      )
    },
  )
})
