// Blocks from before the archive, over the operator's API into R2 and D1.

import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { BackfillStore } from '../../../src/archive/archive/backfill.store.ts'
import { fillsLine, MAX_BACKFILL_BYTES, withBooks } from '../../../src/archive/archive/backfill-lines.ts'
import { backfillCuts } from '../../../src/archive/archive/backfill-queue.ts'
import { packCheckpoint } from '../../../src/archive/archive/checkpoint-members.client.ts'
import { pack, sha256Of } from '../../../src/archive/archive/gzip-lines.client.ts'
import { StoredExports } from '../../../src/archive/exports/exports.store.ts'
import { bookAt, bookAtTime } from '../../../src/archive/replay/archived-books.ts'
import { joinedBytes } from '../../../src/core/chunks.ts'
import type { BookChange } from '../../../src/protocol/feed/block.ts'
import { readBackfill } from '../../kit/at-once.ts'
import { ask } from './operator.worker.ts'

const PATH = '/history/backfill'
const place = { chain: env.CHAIN, bucket: env.ARCHIVE, db: env.HISTORY }
const archive = new StoredArchive(place)
const line = (height: number) => fillsLine({ height, time: height * 10_000, fills: [] })
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const send = async (lines: readonly string[]) => ask('POST', PATH, (await pack(lines)).body)
const rows = async (table: 'segments' | 'gaps') => {
  const { results } = await env.HISTORY.prepare(`SELECT * FROM ${table} WHERE chain = ?`).bind(env.CHAIN).all()
  return results
}

it('is rejected while the log has archived nothing', async () => {
  expect(await send([line(1)])).toMatchObject({ status: 409, json: { error_code: '409' } })
  expect((await ask('GET', PATH)).json).toMatchObject({ from: null, before: null, gaps: [], next: null })
})

describe('below the first block that the log archived', () => {
  beforeAll(async () => {
    const events = range(100, 109).map(line)
    const segment = { first: 100, last: 109, firstMs: 1_000_000, lastMs: 1_090_000, epoch: 'a' }
    await new ArchiveWriter(place).putSegment({ ...segment, events, books: events })
  })

  it('writes each height once, by minute, with the gaps in between', async () => {
    // Six blocks per minute.
    expect((await send(range(40, 51).map(line))).json).toMatchObject({ blocks: 12, segments: 3, next: null })
    expect((await send(range(46, 53).concat(range(60, 62)).map(line))).json).toMatchObject({ blocks: 5, segments: 2 })
    expect((await send(range(40, 62).map(line))).json).toMatchObject({ blocks: 6, segments: 1 })
    expect((await send(range(40, 62).map(line))).json).toEqual({ blocks: 0, segments: 0, bytes: 0, next: null })
    const segments = await archive.segmentsFrom({ height: 0 }, 99)
    expect(segments.map(({ first, last }) => `${first}-${last}`)).toEqual([
      ...['40-41', '42-47', '48-51', '52-53', '54-59', '60-62', '100-109'],
    ])
    const lines = await Promise.all(
      segments.slice(0, -1).map((segment) => Array.fromAsync(archive.lines(segment, 'events'))),
    )
    expect(lines.flat()).toEqual(range(40, 62).map(line))
    expect(await archive.gaps(0, 999)).toEqual([{ from: 63, to: 99 }])
    expect((await ask('GET', PATH)).json).toEqual({
      chain: env.CHAIN,
      from: { height: 40, time: 400_000 },
      before: { height: 110, time: 1_090_000 },
      gaps: [
        { from: 63, to: 99, after_ms: 620_000, before_ms: 1_000_000, recorded_ms: null, beyond_ms: null, attempts: [] },
      ],
      next: null,
      now_ms: expect.any(Number),
    })
  })

  it('records the known data of each row', async () => {
    const known = (await rows('segments')).map(({ first, backfilled, epoch }) => [first, backfilled, epoch])
    expect(known.slice(-2)).toEqual([
      [60, 'fills', null],
      [100, null, 'a'],
    ])
    const [segment] = await archive.segmentsFrom({ height: 60 }, 1)
    expect(JSON.parse((await Array.fromAsync(archive.lines(segment!, 'books')))[0]!)).toMatchObject({
      height: 60,
      books: null,
    })
  })

  it('skips blocks archived by the log and closes the last gap', async () => {
    expect((await send(range(63, 120).map(line))).json).toMatchObject({ blocks: 37 })
    expect(await archive.gaps(0, 999)).toEqual([])
  })

  it('records each missing range as a gap', async () => {
    const holes = range(1, 19).map((at) => line(at * 2))
    expect((await send(holes)).json).toMatchObject({ blocks: 19, segments: 19, next: null })
    expect((await archive.gaps(0, 40)).slice(0, 2)).toEqual([
      { from: 3, to: 3 },
      { from: 5, to: 5 },
    ])
  })

  it('repeats a write that was interrupted between objects and rows', async () => {
    const blocks = readBackfill([line(10_000), line(10_001)].join('\n'))
    if (!blocks.ok) throw new Error('the lines are good')
    const cuts = backfillCuts(blocks.value, [], 20_000)
    const lost = { prepare: place.db.prepare.bind(place.db), batch: () => Promise.reject(new Error('gone')) }
    const chain = 'crash'
    await expect(
      new BackfillStore({ ...place, chain, db: lost }).write(cuts, [], { source: 'test', nowMs: 0 }),
    ).rejects.toThrow('gone')
    const store = new BackfillStore({ ...place, chain })
    expect(await store.neighbors(0, 20_000)).toEqual([])
    await store.write(cuts, [], { source: 'test', nowMs: 0 })
    const again = new StoredArchive({ ...place, chain })
    const [segment] = await again.segmentsFrom({ height: 0 }, 1)
    expect(await Array.fromAsync(again.lines(segment!, 'events'))).toEqual([line(10_000), line(10_001)])
  })

  it.each([1, 2, 3])('begins no further write after its caller gave up during object %d', async (count) => {
    const blocks = readBackfill(range(100, 111).map(line).join('\n'))
    if (!blocks.ok) throw new Error('the lines are good')
    const ending = new AbortController()
    const keys: string[] = []
    const put = ((key: string, ...rest: [string]) => {
      keys.push(key)
      if (keys.length === count) ending.abort(new Error('late'))
      return place.bucket.put(key, ...rest)
    }) as R2Bucket['put']
    const { get, delete: remove } = place.bucket
    const bucket = { put, get: get.bind(place.bucket), delete: remove.bind(place.bucket) }
    const store = new BackfillStore({ ...place, chain: `late-${count}`, bucket })
    const cuts = backfillCuts(blocks.value, [], 20_000)
    expect(cuts).toHaveLength(3)
    const request = { source: 'test', nowMs: 0, signal: ending.signal }
    await expect(store.write(cuts, [], request)).rejects.toThrow('late')
    expect(keys.length).toBeLessThanOrEqual(count + 1)
    expect(await store.neighbors(0, 20_000)).toEqual([])
  })

  it('rejects a write after another one that was not seen, if they overlap', async () => {
    const cuts = (from: number, to: number) => {
      const blocks = readBackfill(range(from, to).map(line).join('\n'))
      if (!blocks.ok) throw new Error('the lines are good')
      return backfillCuts(blocks.value, [], 20_000)
    }
    const store = new BackfillStore({ ...place, chain: 'overlap' })
    const write = (from: number, to: number) => store.write(cuts(from, to), [], { source: 'test', nowMs: 0 })
    await write(102, 105)
    await expect(write(100, 103)).rejects.toThrow('segments.first')
    await expect(write(104, 107)).rejects.toThrow('segments.first')
    await expect(write(96, 107)).rejects.toThrow('segments.first')
    expect((await store.neighbors(0, 200)).map(({ first, last }) => [first, last])).toEqual([[102, 105]])
    await write(106, 107)
  })

  it.each([
    ['a bad line', () => send([line(10), line(11).slice(0, -5)]), /^line 2: /],
    [
      'a bad field',
      () => send([line(10), line(12).replace('"fills":[]', '"fills":[[]]')]),
      /^line 2\.fills\.0: must be at least 2 entries/,
    ],
    ['no gzip', () => ask('POST', PATH, 'lines'), /gzip/],
    ['half of it', async () => ask('POST', PATH, (await pack([line(10)])).body.slice(0, 40)), /gzip/],
    ['nothing', () => send([]), /^line 1: /],
  ])('rejects %s completely', async (_, sent, message) => {
    const before = [await rows('segments'), await rows('gaps')]
    expect(await sent()).toMatchObject({ status: 400, json: { error_message: expect.stringMatching(message) } })
    expect([await rows('segments'), await rows('gaps')]).toEqual(before)
  })

  it('rejects a body that is too large', async () => {
    const long = ' '.repeat(MAX_BACKFILL_BYTES + 1)
    expect((await send([long])).status).toBe(413)
  })

  it('serializes concurrent imports', async () => {
    const [a, b] = await Promise.all([send(range(20, 33).map(line)), send(range(25, 37).map(line))])
    expect(a.json.blocks + b.json.blocks).toBe(9)
    const segments = await archive.segmentsFrom({ height: 0 }, 99)
    const heights = segments.flatMap(({ first, last }) => range(first, last))
    expect(new Set(heights).size).toBe(heights.length)
  })

  it('repairs a gap of the log and records where each block came from', async () => {
    const writer = new ArchiveWriter(place)
    const lines = (from: number, to: number) => range(from, to).map(line)
    const logged = (from: number, to: number) => {
      const segment = { first: from, last: to, firstMs: from * 10_000, lastMs: to * 10_000, epoch: 'b' }
      return writer.putSegment({ ...segment, events: lines(from, to), books: lines(from, to) })
    }
    await writer.putGap({ from: 110, to: 139, afterMs: 1_090_000, beforeMs: 1_400_000 }, 7)
    await logged(140, 149)
    const attempt = { from: 110, to: 139, source: 'a', outcome: 'absent', message: 'none', beyond_repair: false }
    const attempts = async (body: object) => (await ask('POST', '/history/attempts', JSON.stringify(body))).status
    expect(await attempts(attempt)).toBe(200)
    expect(await attempts({ ...attempt, to: 138 })).toBe(409)
    expect(await attempts({ ...attempt, source: 'a\n' })).toBe(400)
    const from = (source: string, heights: readonly number[], text = line) =>
      pack(heights.map(text)).then(({ body }) => ask('POST', `${PATH}?source=${source}`, body))
    const late = (height: number) => line(height).replace(/"time":\d+/, `"time":${height * 10_000 + 1}`)
    expect(await from('liar', range(139, 141), late)).toMatchObject({
      status: 400,
      json: { error_message: expect.stringMatching(/^body: contradicts the archive: block 140 .*1400001/) },
    })
    expect((await from('node', range(108, 119))).json).toMatchObject({ blocks: 10 })
    const { gaps } = (await ask('GET', `${PATH}?after=100`)).json
    const { beyond_repair: _, from: __, to: ___, ...kept } = attempt
    expect(gaps).toEqual([
      {
        from: 120,
        to: 139,
        after_ms: 1_190_000,
        before_ms: 1_400_000,
        recorded_ms: 7,
        beyond_ms: null,
        attempts: [{ ...kept, tries: 1, at_ms: expect.any(Number) }],
      },
    ])
    expect(await attempts({ ...attempt, from: 120, beyond_repair: true })).toBe(200)
    expect((await ask('GET', `${PATH}?after=100`)).json.gaps).toMatchObject([
      { beyond_ms: expect.any(Number), attempts: [{ source: 'a', tries: 2 }] },
    ])
    // Failures are counted apart.
    for (const tries of [1, 2]) {
      expect(await attempts({ ...attempt, from: 120, outcome: 'failed' })).toBe(200)
      const [gap] = (await ask('GET', `${PATH}?after=100`)).json.gaps
      expect(gap).toMatchObject({ beyond_ms: null, attempts: [{ source: 'a', outcome: 'failed', tries }] })
    }
    expect((await from('bucket', range(120, 141))).json).toMatchObject({ blocks: 20 })
    expect((await from('other', range(108, 141))).json).toMatchObject({ blocks: 0 })
    expect((await ask('GET', `${PATH}?after=100`)).json.gaps).toEqual([])
    const { results } = await env.HISTORY.prepare(
      `SELECT from_height, to_height, known, source FROM repairs ORDER BY id`,
    ).all()
    expect(results).toEqual([
      { from_height: 110, to_height: 119, known: 'fills', source: 'node' },
      { from_height: 120, to_height: 139, known: 'fills', source: 'bucket' },
    ])
    const asked = [
      { from: 110, to: 139 },
      { from: 100, to: 109 },
    ]
    expect(await new BackfillStore(place).gapsOf(asked)).toEqual([
      { from: 110, to: 139, repaired: 30, missing: 0, beyond: 0, sources: ['bucket', 'node'] },
      // Blocks of the log, as after a reset.
      { from: 100, to: 109, repaired: 0, missing: 0, beyond: 0, sources: [] },
    ])
    // A reader takes both as one, or has seen only the first one.
    const next = (id: number | null) => archive.repairAfter(id)
    expect(await Promise.all([next(0), next(1), next(null), next(2)])).toEqual([
      { id: 2, from: 110, to: 139 },
      { id: 2, from: 120, to: 139 },
      { id: 2, from: 120, to: 139 },
      null,
    ])
    const segments = await archive.segmentsFrom({ height: 100 }, 99)
    const later = async (id: number) => {
      const found = await Promise.all(segments.map((segment) => archive.isRepairedAfter(id, segment)))
      return segments.flatMap(({ first }, at) => (found[at] ? [first] : []))
    }
    expect([await later(0), await later(1), await later(2)]).toEqual([
      [110, 114, 120, 126, 132, 138],
      [120, 126, 132, 138],
      [],
    ])
    const left = await env.HISTORY.prepare(`SELECT COUNT(*) AS n FROM repair_attempts`).first()
    expect(left).toEqual({ n: 0 })
    const sources = (await rows('segments')).map(({ first, source }) => [first, source])
    expect(sources.filter(([first]) => Number(first) >= 100)).toEqual([
      [100, null],
      ...[
        [110, 'node'],
        [114, 'node'],
        [120, 'bucket'],
        [126, 'bucket'],
        [132, 'bucket'],
        [138, 'bucket'],
      ],
      [140, null],
    ])
  })

  describe('with books', () => {
    const levels = (height: number) => [[{ px: '1.5', sz: `${height}.0`, n: 1 }], []] as BookChange['levels']
    const withChange = (height: number, epoch = 'b') =>
      withBooks(line(height), epoch, [{ coin: 'BTC', levels: levels(height) }])
    const booksOf = (height: number) => JSON.stringify({ coin: 'BTC', height, seq: height, levels: levels(height) })
    const head = (height: number) => ({ epoch: 'b', height, time: height * 10_000, coins: 1 })
    const repair = async (lines: readonly string[], checkpoint?: string) =>
      ask('POST', `${PATH}?source=copy${checkpoint ? `&checkpoint=${checkpoint}` : ''}`, (await pack(lines)).body)
    const upload = async (height: number, more = 0, wrongSha?: string) => {
      const body = joinedBytes(await packCheckpoint(head(height), [booksOf(height)]))
      const sha256 = wrongSha ?? (await sha256Of(body))
      const query = `height=${height}&bytes=${body.length + more}&sha256=${sha256}`
      return { sha256, ...(await ask('POST', `/history/checkpoints?${query}`, body)) }
    }
    const bookOf = async (height: number) => {
      const resting = { yield: async () => undefined }
      const found = await bookAt(archive, 'BTC', height, resting)
      if (!found.ok || !found.snapshot) return found
      for (const timeMs of [height * 10_000, height * 10_000 + 9_999])
        expect(await bookAtTime(archive, 'BTC', timeMs, resting)).toEqual(found)
      const { seq, epoch, levels } = found.snapshot
      return { seq, epoch, levels: JSON.parse(levels) }
    }

    beforeAll(async () => {
      const writer = new ArchiveWriter(place)
      const { epoch, time, coins } = head(149)
      const taken = { epoch, height: 149, through: 149, time, coins, unsure: 0 }
      await writer.putCheckpoint({ ...taken, lines: [booksOf(149)] })
      await writer.putGap({ from: 150, to: 159, afterMs: 1_490_000, beforeMs: 1_600_000 }, 7)
      const events = range(160, 169).map(line)
      const segment = { first: 160, last: 169, firstMs: 1_600_000, lastMs: 1_690_000, epoch: 'c' }
      await writer.putSegment({ ...segment, events, books: events })
    })

    it.each([
      ['of another epoch', () => repair(range(150, 152).map((height) => withChange(height, 'c')))],
      ['after a missing block', () => repair(range(152, 153).map((height) => withChange(height)))],
      ['after unknown books', () => repair([line(150), withChange(151)])],
    ])('%s is rejected', async (_, sent) => {
      const message = expect.stringMatching(/^body: contradicts the archive: block 15\d has changes of books/)
      expect(await sent()).toMatchObject({ status: 400, json: { error_message: message } })
      expect(await archive.gaps(150, 159)).toEqual([{ from: 150, to: 159 }])
    })

    it.each([
      ['length', -1, undefined],
      ['hash', 0, 'a'.repeat(64)],
    ])('are rejected with a checkpoint of another %s', async (_, more, sha256) => {
      const message = 'body: does not have the length or the hash of the URL. Send it again'
      expect(await upload(155, more, sha256)).toMatchObject({ status: 400, json: { error_message: message } })
    })

    it('and an uploaded checkpoint restores each book, and nothing of it counts before', async () => {
      const { sha256, json } = await upload(155)
      expect(json).toEqual({ stored: true })
      expect((await upload(149)).status).toBe(409)
      expect(await archive.checkpointAt(159)).toMatchObject({ height: 149 })
      const lines = range(150, 155).map((height) => withChange(height))
      const wrong = expect.stringMatching(/the checkpoint a+ is not of the books after block 155/)
      expect((await repair(lines, 'a'.repeat(64))).json).toMatchObject({ error_message: wrong })
      expect(await archive.gaps(150, 159)).toEqual([{ from: 150, to: 159 }])
      expect((await repair(lines, sha256)).json).toMatchObject({ blocks: 6, next: null })
      expect((await repair(range(156, 159).map((height) => withChange(height)))).json).toMatchObject({ blocks: 4 })
      expect(await archive.checkpointAt(159)).toEqual({ epoch: 'b', height: 155, time: 1_550_000 })
      for (const height of range(149, 159))
        expect(await bookOf(height)).toEqual({ seq: height, epoch: 'b', levels: levels(height) })
      const { results } = await env.HISTORY.prepare(
        `SELECT from_height, books FROM repairs WHERE source = 'copy'`,
      ).all()
      expect(results).toEqual([
        { from_height: 150, books: 1 },
        { from_height: 156, books: 1 },
      ])
      expect((await upload(155)).status).toBe(409)
    })

    it('are repaired again after a kill between the objects and the rows, with the same bytes', async () => {
      const chain = 'killed'
      const own = { ...place, chain }
      const events = range(140, 149).map(line)
      const segment = { first: 140, last: 149, firstMs: 1_400_000, lastMs: 1_490_000, epoch: 'b' }
      await new ArchiveWriter(own).putSegment({ ...segment, events, books: events })
      const blocks = readBackfill(
        range(150, 155)
          .map((height) => withChange(height))
          .join('\n'),
      )
      if (!blocks.ok) throw new Error('the lines are good')
      const cuts = backfillCuts(blocks.value, [segment], 160)
      const body = joinedBytes(await packCheckpoint(head(155), [booksOf(155)]))
      const sha256 = await sha256Of(body)
      const write = async (db: typeof place.db) => {
        const store = new BackfillStore({ ...own, db })
        await store.uploadCheckpoint({ height: 155, bytes: body.length, sha256 }, new Blob([body]).stream())
        const checkpoint = await store.uploaded(155, sha256)
        await store.write(cuts, [segment], { source: 'copy', nowMs: 0, checkpoint })
      }
      const objects = async () => {
        const { objects } = await env.ARCHIVE.list({ prefix: `archive/${chain}/` })
        return objects.map(({ key, size, checksums }) => [key, size, checksums.toJSON().sha256])
      }
      const lost = { prepare: place.db.prepare.bind(place.db), batch: () => Promise.reject(new Error('gone')) }
      await expect(write(lost as unknown as typeof place.db)).rejects.toThrow('gone')
      const before = await objects()
      const read = new StoredArchive(own)
      expect([await read.last(), await read.checkpointAt(999)]).toEqual([149, null])
      await write(place.db)
      expect(await objects()).toEqual(before)
      expect([await read.last(), await read.checkpointAt(999)]).toMatchObject([155, { height: 155 }])
    })
  })

  it('writes a bounded number of statements among thousands of gaps, and changes no other gap', async () => {
    const count = `WITH RECURSIVE n (at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at < 1999)`
    await env.HISTORY.batch([
      env.HISTORY.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, lines, events_bytes, books_bytes,
        events_sha256, books_sha256, backfilled, source) ${count}
        SELECT 'holes', 4 * at, 4 * at, 40000 * at, 40000 * at, 1, 1, 1, '', '', 'fills', 'a' FROM n`),
      env.HISTORY.prepare(`INSERT INTO gaps (chain, from_height, to_height, after_ms, before_ms, recorded_ms)
        ${count} SELECT 'holes', 4 * at + 1, 4 * at + 3, 0, 0, 7 FROM n WHERE at < 1999`),
    ])
    let most = 0
    const batch: D1Database['batch'] = (statements) => {
      most = Math.max(most, statements.length)
      return env.HISTORY.batch(statements)
    }
    const store = new BackfillStore({
      ...place,
      chain: 'holes',
      db: { prepare: env.HISTORY.prepare.bind(env.HISTORY), batch },
    })
    const around = await store.neighbors(4, 7_999)
    // The middle of a gap, all of a gap, its begin, its end, and a gap that is far away.
    const heights = [6, 9, 10, 11, 13, 19, 7_001, 7_002, 7_003]
    const blocks = readBackfill(heights.map(line).join('\n'))
    if (!blocks.ok) throw new Error('the lines are good')
    const cuts = backfillCuts(blocks.value, around, 10_000)
    expect(cuts.flatMap(({ first, last }) => range(first, last))).toEqual(heights)
    await store.write(cuts, around, { source: 'test', nowMs: 0 })
    expect(most).toBeLessThan(30)
    const { results } =
      await env.HISTORY.prepare(`SELECT from_height AS "from", to_height AS "to", recorded_ms AS at FROM gaps
      WHERE chain = 'holes' AND (from_height < 25 OR from_height BETWEEN 6995 AND 7010) ORDER BY from_height`).all()
    expect(results.map(({ from, to }) => [from, to])).toEqual([
      ...[
        [1, 3],
        [5, 5],
        [7, 7],
        [14, 15],
        [17, 18],
        [21, 23],
      ],
      ...[
        [6_997, 6_999],
        [7_005, 7_007],
        [7_009, 7_011],
      ],
    ])
    expect(results.every(({ at }) => at === 7)).toBe(true)
  })

  it('knows an old repaired gap after thousands of repairs in pieces', async () => {
    const put = (first: number, last: number, source: string, bytes = 1) =>
      env.HISTORY.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, lines, events_bytes, books_bytes,
        events_sha256, books_sha256, backfilled, source) VALUES ('old', ?, ?, 0, 0, 1, ?, 1, '', '', 'fills', ?)`).bind(
        first,
        last,
        bytes,
        source,
      )
    const count = `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 3000)`
    await env.HISTORY.batch([
      ...[put(90, 104, 'a'), put(105, 109, 'b'), put(110, 130, 'a'), put(200, 204, 'a', 0)],
      env.HISTORY.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, lines, events_bytes, books_bytes,
        events_sha256, books_sha256, backfilled, source) ${count}
        SELECT 'old', 1000 + 2 * at, 1000 + 2 * at, 0, 0, 1, 1, 1, '', '', 'fills', 'c' FROM n`),
      env.HISTORY.prepare(`INSERT INTO gaps (chain, from_height, to_height, after_ms, before_ms, recorded_ms, beyond_ms)
        ${count} SELECT 'old', 1001 + 2 * at, 1001 + 2 * at, 0, 0, 7, IIF(at <= 1000, 9, NULL) FROM n`),
      env.HISTORY.prepare(`INSERT INTO gaps VALUES ('old', 50, 60, 0, 0, 7, NULL)`),
    ])
    const gap = (from: number, to: number) => ({ from, to })
    const asked = [gap(1002, 7001), gap(1002, 1005), gap(100, 120), gap(200, 204), gap(8000, 8001), gap(50, 60)]
    expect(await new BackfillStore({ ...place, chain: 'old' }).gapsOf(asked)).toEqual([
      { ...gap(1002, 7001), repaired: 3000, missing: 3000, beyond: 1000, sources: ['c'] },
      { ...gap(1002, 1005), repaired: 2, missing: 2, beyond: 2, sources: ['c'] },
      { ...gap(100, 120), repaired: 21, missing: 0, beyond: 0, sources: ['a', 'b'] },
      // Its events were removed.
      { ...gap(200, 204), repaired: 0, missing: 0, beyond: 0, sources: [] },
      { ...gap(8000, 8001), repaired: 0, missing: 0, beyond: 0, sources: [] },
      // Older than the archive, which removed the blocks around it.
      { ...gap(50, 60), repaired: 0, missing: 0, beyond: 0, sources: [] },
    ])
    expect(await new BackfillStore(place).gapsOf([])).toEqual([])
  })

  it('reads few rows for each of many gaps with attempts', async () => {
    const gaps = 2_000
    const each = `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${gaps})`
    await env.HISTORY.batch([
      env.HISTORY.prepare(`INSERT INTO gaps (chain, from_height, to_height, after_ms, before_ms, recorded_ms)
        ${each} SELECT 'many', 10 * at, 10 * at + 5, 0, 0, 7 FROM n`),
      env.HISTORY.prepare(`INSERT INTO repair_attempts (chain, from_height, to_height, source, tries, at_ms, outcome, message)
        ${each} SELECT 'many', 10 * at, 10 * at + 5, 'a', 1, 1, 'absent', '' FROM n`),
    ])
    let reads = 0
    const batch: D1Database['batch'] = async (statements) => {
      const answers = await env.HISTORY.batch<never>(statements)
      for (const { meta } of answers) reads += meta.rows_read
      return answers
    }
    const db = { prepare: env.HISTORY.prepare.bind(env.HISTORY), batch }
    const blocks = readBackfill([15_001, 15_002, 15_004].map(line).join('\n'))
    if (!blocks.ok) throw new Error('the lines are good')
    const around = [14_999, 15_006].map((at) => ({
      first: at,
      last: at,
      firstMs: at * 10_000,
      lastMs: at * 10_000,
      epoch: null,
    }))
    const store = new BackfillStore({ ...place, chain: 'many', db })
    await store.write(backfillCuts(blocks.value, [], 20_000), around, { source: 'test', nowMs: 0 })
    const left = await env.HISTORY.prepare(
      `SELECT from_height, to_height, recorded_ms FROM gaps WHERE chain = 'many' AND from_height BETWEEN 15000 AND 15009`,
    ).all()
    expect(left.results).toEqual([
      { from_height: 15_000, to_height: 15_000, recorded_ms: 7 },
      { from_height: 15_003, to_height: 15_003, recorded_ms: 7 },
      { from_height: 15_005, to_height: 15_005, recorded_ms: 7 },
    ])
    expect(reads).toBeLessThan(5 * gaps)
  })

  it('lists more gaps than a page has once each', async () => {
    const many = env.HISTORY
    const ends =
      many.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, lines, events_bytes, books_bytes,
      events_sha256, books_sha256) VALUES ('many', ?1, ?1, 0, 0, 1, 1, 1, '', '')`)
    await many.batch([ends.bind(1), ends.bind(60_000)])
    const store = new BackfillStore({ ...place, chain: 'many' })
    const pages: number[][] = []
    for (let after: number | null = 0; after !== null; ) {
      const { gaps, next } = await store.state(after)
      expect(gaps.every(({ attempts }) => attempts.length <= 1)).toBe(true)
      pages.push(gaps.map(({ from }) => from))
      after = next
    }
    expect(pages.map(({ length }) => length)).toEqual([1_000, 1_000, 2])
    expect(pages.flat()).toEqual([...new Set(pages.flat())].sort((a, b) => a - b))
    // Customers page through them even if the gap at the end of a page is repaired meanwhile.
    const exports = new StoredExports(env.HISTORY, 'many', undefined)
    const first = await exports.gaps(null, 1_000)
    const { from } = first.at(-1)!
    await many.prepare(`DELETE FROM gaps WHERE chain = 'many' AND from_height = ?`).bind(from).run()
    const rest = await exports.gaps(from, 2_000)
    expect([...first, ...rest].map((gap) => gap.from)).toEqual(pages.flat())
  })

  it('rejects wrong tokens and parameters', async () => {
    expect((await ask('GET', PATH, undefined, { token: 'x' })).status).toBe(401)
    expect((await ask('GET', `${PATH}?after=-1`)).json.error_message).toMatch(/^after: /)
  })
})
