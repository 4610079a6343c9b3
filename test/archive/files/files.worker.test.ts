// Files in R2 and D1, out of an archive of three days: each row once, through failures at every write, in every order.

import { env } from 'cloudflare:workers'
import { gunzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, it, vi } from 'vitest'
import { segmentKey } from '../../../src/archive/archive/archive-keys.ts'
import { ArchiveDamage } from '../../../src/archive/archive/archive-read.ts'
import type { ArchiveStorage } from '../../../src/archive/archive/archive-writer.store.ts'
import { sha256Of } from '../../../src/archive/archive/gzip-lines.client.ts'
import { tableFiles } from '../../../src/archive/exports/exports.store.ts'
import { LINK_MS } from '../../../src/archive/exports/file-links.ts'
import { tableKey } from '../../../src/archive/files/file-keys.ts'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import type { FilesRequest } from '../../../src/archive/files/files-read.ts'
import type { FileSpan, Level } from '../../../src/archive/files/levels.ts'
import { rangeCache } from '../../../src/archive/files/range-cache.client.ts'
import type { BlockEvents } from '../../../src/archive/files/rows.ts'
import type { TableName } from '../../../src/archive/files/table.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { fillWith } from '../../kit/fills.ts'
import { failing } from './compacting.worker.ts'
import { archived, compact, counted, placeOf, unreadable } from './places.worker.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 10, 20)
/** A block each twenty minutes, one segment each: some are of one hour. */
const BLOCK_MS = HOUR_MS / 3
const DAYS = 3
const BLOCKS = 24 * 3 * DAYS
const user = (digit: number) => `0x${String(digit).repeat(40)}`
const HEAVY = user(1)
const QUIET = user(2)
const BUILDER = user(3)
const UNKNOWN = user(4)
const timeOf = (height: number) => START_MS + height * BLOCK_MS

const fill = (tid: number, coin: string) =>
  fillWith({ coin, sz: '0.5', time: tid, oid: tid, tid, closedPnl: '0', fee: '0', builder: BUILDER })

function blockAt(height: number): BlockEvents {
  const own = [0, 1, 2].map((at): UserFill => [HEAVY, fill(3 * height + at, at === 0 ? 'BTC' : 'ETH')])
  const quiet: UserFill[] = height === 5 || height === 200 ? [[QUIET, fill(9_000 + height, 'BTC')]] : []
  const ledger =
    height % 50 === 0 ? [{ users: [QUIET], time: 1, hash: '0x0', delta: { type: 'deposit', usdc: '1' } }] : []
  return { height, time: timeOf(height), fills: height % 7 === 3 ? quiet : [...own, ...quiet], ledger }
}

const heights = Array.from({ length: BLOCKS }, (_, height) => height)

const OBJECTS = { objectBytes: 8_000 }
const LATER = { ...OBJECTS, now: () => LINK_MS + 600_001 }
const blocksAt = (wanted: readonly number[]) => wanted.map(blockAt)

const all: Omit<FilesRequest, 'scope'> = {
  kind: 'fills',
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  upTo: Number.MAX_SAFE_INTEGER,
  order: 'oldest',
  limit: 1_000_000,
}
const of = (address: string): Pick<FilesRequest, 'scope'> => ({ scope: { by: 'user', address } })
const expected = (isWanted: (one: UserFill) => boolean, among = heights) =>
  among.map(blockAt).flatMap(({ height, fills }) => fills.filter(isWanted).map(({ 1: { tid } }) => [height, tid]))
const told = async (files: StoredFiles, request: FilesRequest) =>
  (await files.rows(request)).blocks.flatMap(({ height, fills }) => fills.map(({ 1: { tid } }) => [height, tid]))
const isHeavy = ([owner]: UserFill) => owner === HEAVY

const objectsOf = async (chain: string) => {
  const { objects } = await env.ARCHIVE.list({ prefix: `files/${chain}/` })
  return objects.map(({ key }) => key)
}

describe('an archive of three days', () => {
  const place = placeOf('days')
  const files = new StoredFiles(place)

  it('is compacted despite failures at every write, and no row is missing or repeated', {
    timeout: 120_000,
  }, async () => {
    expect(await files.coverage('fills')).toBeNull()
    await archived(place, blocksAt(heights.slice(0, 100)))
    expect(await compact(failing(7)(place), OBJECTS)).toBeGreaterThan(50)
    await archived(place, blocksAt(heights.slice(100)))
    await compact(failing(7)(place), OBJECTS)
    const levels = await env.HISTORY.prepare(
      `SELECT level, state, COUNT(*) AS files, MAX(objects) AS objects FROM files WHERE chain = 'days' GROUP BY level, state`,
    ).all<{ level: number; state: string; files: number; objects: number }>()
    expect(levels.results.map(({ level, state, files: count }) => [level, state, count])).toEqual([
      [0, 'live', 3],
      [0, 'merged', BLOCKS - 3],
      [1, 'live', 23],
      [1, 'merged', 48],
      [2, 'live', 2],
    ])
    expect(levels.results.at(-1)!.objects).toBeGreaterThan(2)
    for (const [scope, mine] of [
      [{ by: 'user', address: HEAVY }, isHeavy],
      [{ by: 'user', address: QUIET }, ([owner]: UserFill) => owner === QUIET],
      [{ by: 'builder', address: BUILDER }, () => true],
      [{ by: 'user', address: UNKNOWN }, () => false],
    ] as const)
      expect(await told(files, { ...all, scope })).toEqual(expected(mine))
    expect(await files.coverage('fills')).toEqual({
      from: { height: 0, time: START_MS },
      to: { height: BLOCKS - 1, time: timeOf(BLOCKS - 1) },
      gaps: [],
      funded: [{ from: 0, fromMs: START_MS, to: BLOCKS - 1 }],
    })
  })

  it('has each fill of a day once in its tables by user, and each fill of an hour once in chain order', async () => {
    const tidsOf = async (level: number, name: string) => {
      const { results } =
        await env.HISTORY.prepare(`SELECT first, last, first_ms AS firstMs, number, sha256 FROM file_tables
        WHERE chain = 'days' AND level = ? AND name = ? ORDER BY first, number`)
          .bind(level, name)
          .all<FileSpan & { number: number; sha256: string }>()
      const rows = results.map(async ({ number, sha256, ...file }) => {
        const object = await env.ARCHIVE.get(tableKey('days', level as Level, file, number, name as TableName))
        const bytes = await object!.arrayBuffer()
        expect(await sha256Of(new Uint8Array(bytes))).toBe(sha256)
        return parquetReadObjects({ file: bytes, compressors: { GZIP: (packed) => gunzipSync(packed) } })
      })
      return (await Promise.all(rows))
        .flat()
        .map(({ height, user: owner, tid }) => [owner, Number(height), Number(tid)])
    }
    const fills = (until: number) =>
      heights.slice(0, until).flatMap((height) => blockAt(height).fills.map(([owner, { tid }]) => [owner, height, tid]))
    expect(await tidsOf(1, 'fills-by-time')).toEqual(fills(BLOCKS - 3))
    for (const [day, until] of [0, 72].entries()) {
      const of = fills(until + 72).slice(fills(until).length)
      const [heavy, quiet] = [HEAVY, QUIET].map((owner) => of.filter(([mine]) => mine === owner))
      const told = (await tidsOf(2, 'fills-by-user')).filter(
        ([, height]) => Math.floor((height as number) / 72) === day,
      )
      expect(told).toEqual([...heavy!, ...quiet!])
    }
  })

  it('is read newest first, in whole blocks, up to a limit', async () => {
    const newest = expected(isHeavy).reverse()
    for (const limit of [1, 3, 4, 50, 400]) {
      const { blocks, isEnd } = await files.rows({ ...all, ...of(HEAVY), order: 'newest', limit })
      const tids = blocks.flatMap(({ fills }) => fills.map(({ 1: { tid } }) => tid).reverse())
      expect(tids).toEqual(newest.slice(0, Math.ceil(limit / 3) * 3).map(([, tid]) => tid))
      expect(isEnd).toBe(false)
    }
    expect(await files.rows({ ...all, ...of(UNKNOWN), order: 'newest' })).toEqual({ blocks: [], isEnd: true })
  })

  it('is read within a time window, and up to a height', async () => {
    const fromMs = timeOf(20)
    const toMs = timeOf(150)
    const within = heights.filter((height) => height >= 20 && height <= 150)
    expect(await told(files, { ...all, ...of(HEAVY), fromMs, toMs })).toEqual(expected(isHeavy, within))
    expect(await told(files, { ...all, ...of(HEAVY), upTo: 100, fromMs })).toEqual(
      expected(
        isHeavy,
        within.filter((height) => height <= 100),
      ),
    )
  })

  it('returns the ledger events of a user', async () => {
    const { blocks } = await files.rows({ ...all, ...of(QUIET), kind: 'ledger' })
    expect(blocks.map(({ height, ledger, fills }) => [height, ledger, fills])).toEqual(
      heights.filter((height) => height % 50 === 0).map((height) => [height, blockAt(height).ledger, []]),
    )
  })

  it('costs a quiet user one query and one read per file that has rows of the user', async () => {
    const { place: asked, calls } = counted(place)
    const read = async (address: string) => {
      await new StoredFiles(asked).rows({ ...all, ...of(address), order: 'newest', limit: 2_000 })
      return calls()
    }
    expect(await read(QUIET)).toEqual([1, 2])
    expect(await read(UNKNOWN)).toEqual([1, 0])
  })

  it('reads R2 once per range and data center', async () => {
    const { place: asked, calls } = counted(place)
    const pending: Promise<unknown>[] = []
    let origin: string | null = 'https://ranges.example.com'
    const ranges = rangeCache(
      caches.default,
      () => origin,
      (work) => void pending.push(work),
    )
    const read = async (isolate: StoredFiles) => {
      const { blocks } = await isolate.rows({ ...all, ...of(HEAVY), order: 'newest', limit: 400 })
      await Promise.all(pending.splice(0))
      return { blocks, reads: calls()[1]! }
    }
    const plain = await read(new StoredFiles(asked))
    const first = await read(new StoredFiles({ ...asked, ranges }))
    const second = await read(new StoredFiles({ ...asked, ranges }))
    expect(plain.reads).toBeGreaterThan(10)
    expect([first.reads, second.reads]).toEqual([plain.reads, 0])
    expect([first.blocks, second.blocks]).toEqual([plain.blocks, plain.blocks])
    origin = null
    expect((await read(new StoredFiles({ ...asked, ranges }))).reads).toBe(plain.reads)
  })

  it('keeps merged files for current readers, and removes them later', async () => {
    const before = await objectsOf('days')
    for (let turn = 0; turn < 20; turn++) await compact(place, LATER)
    const after = await objectsOf('days')
    expect(after.length).toBeLessThan(before.length)
    const left = await env.HISTORY.prepare(`SELECT COUNT(*) AS n FROM files WHERE chain = 'days' AND state = 'merged'`)
    expect(await left.first()).toEqual({ n: 0 })
    expect(await told(files, { ...all, ...of(HEAVY) })).toEqual(expected(isHeavy))
    const known = await env.HISTORY.prepare(`SELECT (SELECT COUNT(*) FROM file_objects WHERE chain = 'days')
      + (SELECT COUNT(*) FROM file_tables WHERE chain = 'days')
      + (SELECT SUM(parts) FROM position_days WHERE chain = 'days') AS n`).first<{ n: number }>()
    expect(known!.n).toBe(after.length)
  })

  it.each([
    ['missing', null],
    ['altered', new Uint8Array(99_999)],
  ] as const)('with an object that is %s returns no row of it, and all others', async (what, body) => {
    const key = (await objectsOf('days')).find((one) => one.includes('/day/2026-11-20/'))!
    const good = await (await env.ARCHIVE.get(key))!.arrayBuffer()
    if (body) await env.ARCHIVE.put(key, body)
    else await env.ARCHIVE.delete(key)
    const whole = { ...all, scope: { by: 'builder', address: BUILDER } as const }
    await expect(files.rows(whole)).rejects.toThrow(new ArchiveDamage(key, what))
    expect(await told(files, { ...whole, fromMs: timeOf(72) })).toEqual(expected(() => true, heights.slice(72)))
    await env.ARCHIVE.put(key, good)
    expect(await told(files, whole)).toEqual(expected(() => true))
  })

  it('with a page that cannot be unpacked reports its object as altered', async () => {
    const damaged = new StoredFiles({ ...place, ranges: unreadable(env.ARCHIVE) })
    const isAltered = expect.objectContaining({ name: 'ArchiveDamage', message: expect.stringContaining('altered') })
    await expect(damaged.rows({ ...all, ...of(HEAVY) })).rejects.toEqual(isAltered)
    await expect(damaged.positions('BTC', 80)).rejects.toEqual(isAltered)
  })
})

it('days are merged into their month once the next month has a day, and are read as before', {
  timeout: 120_000,
}, async () => {
  const place = placeOf('months')
  const days = [9, 10, 11, 12].flatMap((day) => heights.slice(0, 72).map((height) => 72 * day + height))
  await archived(place, blocksAt(days))
  const seldom = new Set<string>()
  const put = (key: string, body: never, options?: R2PutOptions) => {
    if (options?.storageClass === 'InfrequentAccess')
      seldom.add(/\/(minute|hour|day|month)\/.*\d{4}\.([^.]*)/.exec(key)!.slice(1).join(' '))
    return env.ARCHIVE.put(key, body, options)
  }
  const bucket = { put, get: env.ARCHIVE.get.bind(env.ARCHIVE), delete: env.ARCHIVE.delete.bind(env.ARCHIVE) }
  await compact(failing(7)({ ...place, bucket: bucket as unknown as ArchiveStorage['bucket'] }), OBJECTS)
  const files = new StoredFiles(place)
  const levels = async () => {
    const { results } = await env.HISTORY.prepare(`SELECT level, state, COUNT(*) AS n FROM files
      WHERE chain = 'months' AND level >= 2 GROUP BY level, state`).all<{ level: number; state: string; n: number }>()
    return results.map(({ level, state, n }) => [level, state, n])
  }
  const rowsOfDays = () =>
    env.HISTORY.prepare(`SELECT COUNT(*) AS n FROM file_keys WHERE chain = 'months'
    AND first < ?`)
      .bind(72 * 11)
      .first('n')
  const check = async () => {
    expect(await told(files, { ...all, ...of(HEAVY) })).toEqual(expected(isHeavy, days))
    const newest = await told(files, { ...all, ...of(HEAVY), order: 'newest', upTo: 72 * 10 })
    expect(newest.map(([height]) => height)).toEqual(
      expected(
        isHeavy,
        days.filter((height) => height <= 72 * 10),
      )
        .map(([height]) => height)
        .reverse(),
    )
    expect(await files.coverage('fills')).toMatchObject({
      from: { height: 72 * 9 },
      to: { height: 72 * 13 - 1 },
      gaps: [],
    })
  }
  expect(await levels()).toEqual([
    [2, 'live', 1],
    [2, 'merged', 2],
    [3, 'live', 1],
  ])
  await check()
  const ofDays = ['fills-by-user', 'ledger-by-user', 'positions-by-coin'].map((name) => `day ${name}`)
  expect([...seldom].sort()).toEqual([...ofDays, 'hour fills-by-time', 'month pages'])
  expect(await rowsOfDays()).toBeGreaterThan(0)
  for (let turn = 0; turn < 30; turn++) await compact(place, LATER)
  expect([await levels(), await rowsOfDays()]).toEqual([
    [
      [2, 'live', 1],
      [3, 'live', 1],
    ],
    0,
  ])
  await check()
  // A month has the tables of its days.
  const source = tableFiles(env.HISTORY, 'months').find(({ product }) => product === 'fills_by_user')!
  const listed = await source.files({ fromMs: 0, toMs: 1e15 }, null, 1e3)
  const firsts = listed.filter(({ key }) => key.includes('/day/')).map(({ first }) => first)
  expect([...new Set(firsts)]).toEqual([9, 10, 11].map((day) => 72 * day))
})

it('heights that nobody has, and lost segments, are gaps', async () => {
  const place = placeOf('gaps')
  await archived(place, blocksAt([0, 1, 5, 6, 7]))
  const lost = { first: 6, last: 6, firstMs: timeOf(6) }
  await env.ARCHIVE.delete(segmentKey('gaps', lost, 'events'))
  await compact(failing(7)(place), OBJECTS)
  const files = new StoredFiles(place)
  expect(await files.coverage('fills')).toMatchObject({
    from: { height: 0 },
    to: { height: 7 },
    gaps: [
      { from: 2, to: 4 },
      { from: 6, to: 6 },
    ],
  })
  expect(await told(files, { ...all, ...of(HEAVY) })).toEqual(expected(isHeavy, [0, 1, 5, 7]))
})

it('if the archive is bounded, files of removed heights are removed', async () => {
  const place = placeOf('bounded-files')
  await archived(place, blocksAt(heights.slice(0, 100)))
  await compact(place, OBJECTS)
  await env.HISTORY.prepare(`DELETE FROM segments WHERE chain = 'bounded-files' AND first < 72`).run()
  for (const [now, isBounded] of [
    [0, false],
    [0, true],
    [LINK_MS + 600_001, true],
  ] as const)
    for (let turn = 0; turn < 20; turn++) await compact(place, { ...OBJECTS, now: () => now, isBounded })
  const files = new StoredFiles(place)
  expect(await files.coverage('fills')).toMatchObject({ from: { height: 72 }, to: { height: 99 } })
  // Later positions are computed from those of the last day before.
  expect((await objectsOf('bounded-files')).filter((key) => key.includes('2026-11-20'))).toEqual([
    expect.stringContaining('/positions/2026-11-20/000000000000-000000000071.0000.'),
  ])
  expect(await told(files, { ...all, ...of(HEAVY) })).toEqual(expected(isHeavy, heights.slice(72, 100)))
  const left = env.HISTORY.prepare(`SELECT COUNT(*) AS n FROM file_keys WHERE chain = 'bounded-files'`)
  expect(await left.first()).toEqual({ n: 0 })
})

it('tables of fills are removed after their days, and all other files stay', async () => {
  const place = placeOf('fill-tables')
  await archived(place, blocksAt(heights.slice(0, 100)))
  await compact(place, OBJECTS)
  const before = await objectsOf('fill-tables')
  const isOfFills = (key: string) => key.includes('.fills-by-')
  const isFirstDay = (key: string) => key.includes('2026-11-20')
  const due = before.filter((key) => isOfFills(key) && isFirstDay(key))
  expect(due.filter((key) => key.includes('.fills-by-time.')).length).toBeGreaterThan(5)
  expect(due.some((key) => key.includes('/day/'))).toBe(true)
  const newest = timeOf(99)
  /** Removes what ended before this time, which counts back from the newest block although the clock is fast. */
  const sweep = (beforeMs: number) => {
    const terms = { now: () => newest + 90 * 86_400_000, fillTableDays: (newest - beforeMs) / 86_400_000 }
    return compact(place, { ...OBJECTS, ...terms })
  }
  await sweep(START_MS)
  expect((await objectsOf('fill-tables')).filter(isOfFills)).toEqual(before.filter(isOfFills))
  // The last fills of the day are newer.
  await sweep(Date.UTC(2026, 10, 20, 12))
  const noon = (await objectsOf('fill-tables')).filter((key) => isOfFills(key) && isFirstDay(key))
  expect(noon.filter((key) => key.includes('/day/'))).toEqual(due.filter((key) => key.includes('/day/')))
  expect(noon.length).toBeLessThan(due.length)
  await sweep(Date.UTC(2026, 10, 21))
  const left = await objectsOf('fill-tables')
  const days = (keys: readonly string[]) => keys.filter((key) => key.includes('/day/') && !due.includes(key))
  expect(left.filter(isOfFills)).toEqual(before.filter((key) => isOfFills(key) && !due.includes(key)))
  expect(days(left)).toEqual(days(before))
  const listed = tableFiles(env.HISTORY, 'fill-tables').filter(({ product }) => product.startsWith('fills_'))
  for (const { files } of listed)
    expect(await files({ fromMs: 0, toMs: Date.UTC(2026, 10, 21) - 1 }, null, 99)).toEqual([])
  const rows = { ...all, ...of(HEAVY) }
  expect(await told(new StoredFiles(place), rows)).toEqual(expected(isHeavy, heights.slice(0, 100)))
})

it('the object of a chain writes files as soon as it is notified', async () => {
  const place = placeOf(env.CHAIN)
  await archived(place, blocksAt(heights.slice(0, 8)))
  await env.COMPACTOR.getByName(env.CHAIN).wake()
  const files = new StoredFiles(place)
  await vi.waitFor(async () => expect((await files.coverage('fills'))?.to.height).toBe(7), {
    timeout: 30_000,
    interval: 50,
  })
  expect(await told(files, { ...all, ...of(HEAVY) })).toEqual(expected(isHeavy, heights.slice(0, 8)))
})
