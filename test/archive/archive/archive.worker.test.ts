// The archive in R2 and D1, and the Archiver behind a log, in workerd.

import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { checkpointKey, segmentKey } from '../../../src/archive/archive/archive-keys.ts'
import { ArchiveDamage } from '../../../src/archive/archive/archive-read.ts'
import { ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { Retention } from '../../../src/archive/archive/retention.store.ts'
import type { CutSegment } from '../../../src/archive/archive/segment-cutter.ts'
import { archiveMemory } from '../../../src/archive/archive-memory.ts'
import type { BlockLogApi } from '../../../src/protocol/feed/log-api.ts'
import { FakeFeeder, levelsOf } from '../../block-log/fake-feeder.worker.ts'
import { placeOf, segmentOf } from '../files/places.worker.ts'

/** Ten blocks of a second each. */
const segment = (first: number): CutSegment => {
  const blocks = Array.from({ length: 10 }, (_, at) => ({ height: first + at, time: (first + at) * 1000 }))
  return { ...segmentOf(blocks), books: blocks.map(({ height }) => `{"books":${height}}`) }
}

describe('the archive', () => {
  const place = placeOf('written')
  const writer = new ArchiveWriter(place)
  const archive = new StoredArchive(place)
  const linesOf = (...asked: Parameters<StoredArchive['lines']>) => Array.fromAsync(archive.lines(...asked))
  const firsts = (found: readonly { readonly first: number }[]) => found.map(({ first }) => first)

  beforeAll(async () => {
    // Again, as after an answer that did not come.
    for (const first of [10, 20, 20, 40]) await writer.putSegment(segment(first))
    await writer.putGap({ from: 30, to: 39, afterMs: 29_000, beforeMs: 40_000 }, 50_000)
    const books = (height: number) =>
      ['BTC', 'flx:"x"'].map((coin) => JSON.stringify({ coin, height, seq: 3, levels: [[], []] }))
    for (const height of [12, 25]) {
      const taken = { epoch: 'a', height, through: height, time: height * 1000, coins: 2, unsure: 0 }
      await writer.putCheckpoint({ ...taken, lines: books(height) })
    }
  })

  it('finds segments by height and by time, in order', async () => {
    expect(firsts(await archive.segmentsFrom({ height: 0 }, 9))).toEqual([10, 20, 40])
    expect(firsts(await archive.segmentsFrom({ height: 19 }, 9))).toEqual([10, 20, 40])
    expect(firsts(await archive.segmentsFrom({ height: 20 }, 1))).toEqual([20])
    expect(firsts(await archive.segmentsFrom({ height: 33 }, 9))).toEqual([40])
    expect(firsts(await archive.segmentsFrom({ height: 50 }, 9))).toEqual([])
    expect(firsts(await archive.segmentsFrom({ timeMs: 29_500 }, 9))).toEqual([40])
    expect(await archive.gaps(0, 30)).toEqual([{ from: 30, to: 39 }])
    expect(await archive.gaps(40, 99)).toEqual([])
  })

  it('streams the lines of one kind', async () => {
    const [first] = await archive.segmentsFrom({ height: 10 }, 1)
    expect(await linesOf(first!, 'events')).toEqual(segment(10).events)
    expect(await linesOf(first!, 'books')).toEqual(segment(10).books)
  })

  it('has checkpoints of all books, of which a request can read some', async () => {
    expect(await archive.checkpointAt(11)).toBeNull()
    expect(await archive.checkpointAt(24)).toEqual({ epoch: 'a', height: 12, time: 12_000 })
    expect((await archive.checkpointAfter(12))?.height).toBe(25)
    expect(await archive.checkpointAfter(25)).toBeNull()
    const coins = async (wanted: ReadonlySet<string> | null) =>
      (await Array.fromAsync(archive.books(25, wanted))).map(({ coin }) => coin)
    expect([await coins(null), await coins(new Set(['flx:"x"']))]).toEqual([['BTC', 'flx:"x"'], ['flx:"x"']])
  })

  it('verifies a checkpoint that was restored without a checksum once, whatever the number of its books', async () => {
    const coins = Array.from({ length: 9 }, (_, at) => `C${at}`)
    // Random, so that each book is a range of its own.
    const random = () => crypto.getRandomValues(new Uint8Array(24_000)).join()
    const lines = coins.map((coin) => JSON.stringify({ coin, height: 70, seq: 3, levels: [[], []], random: random() }))
    await writer.putCheckpoint({ epoch: 'a', height: 70, through: 70, time: 1, coins: 9, unsure: 0, lines })
    const key = checkpointKey('written', 70)
    await env.ARCHIVE.put(key, await (await env.ARCHIVE.get(key))!.arrayBuffer())
    const get = vi.fn((...asked: Parameters<R2Bucket['get']>) => env.ARCHIVE.get(...asked))
    const wanted = new Set(coins.filter((_, at) => at % 2 === 0))
    const restored = new StoredArchive({ ...place, bucket: { get } as unknown as R2Bucket })
    const read = await Array.fromAsync(restored.books(70, wanted))
    expect(new Set(read.map(({ coin }) => coin))).toEqual(wanted)
    expect(get.mock.calls.filter(([, options]) => options?.range === undefined)).toHaveLength(1)
    expect(get.mock.calls.length).toBeGreaterThan(4)
  })

  it.each([
    ['missing', null],
    ['truncated', new Uint8Array(9)],
    ['altered', new Uint8Array(9_999)],
  ] as const)('reports an object that is %s as damaged, and returns nothing of it', async (what, body) => {
    const damaged = segment(60)
    await writer.putSegment(damaged)
    const key = segmentKey('written', damaged, 'books')
    if (body) await env.ARCHIVE.put(key, body)
    else await env.ARCHIVE.delete(key)
    const [found] = await archive.segmentsFrom({ height: 60 }, 1)
    await expect(linesOf(found!, 'books')).rejects.toThrow(new ArchiveDamage(key, what))
    expect(await linesOf(found!, 'events')).toEqual(damaged.events)
    const books = checkpointKey('written', 12)
    const good = await (await env.ARCHIVE.get(books))!.arrayBuffer()
    if (body) await env.ARCHIVE.put(books, body)
    else await env.ARCHIVE.delete(books)
    await expect(Array.fromAsync(archive.books(12, new Set(['BTC'])))).rejects.toThrow(new ArchiveDamage(books, what))
    // Restored without a checksum, first with a changed byte.
    const wrong = new Uint8Array(good.slice())
    wrong[wrong.length - 9]! ^= 1
    await env.ARCHIVE.put(books, wrong)
    await expect(Array.fromAsync(archive.books(12, null))).rejects.toThrow(new ArchiveDamage(books, 'altered'))
    await env.ARCHIVE.put(books, good)
    expect(await Array.fromAsync(archive.books(12, null))).toHaveLength(2)
    await expect(Array.fromAsync(archive.books(13, null))).rejects.toThrow(
      new ArchiveDamage(checkpointKey('written', 13), 'missing'),
    )
  })
})

it('a size limit removes the oldest segments with their objects, and unused checkpoints', async () => {
  const place = placeOf('bounded')
  const writer = new ArchiveWriter(place)
  const archive = new StoredArchive(place)
  let bytes = 0
  for (const first of [10, 20, 30]) bytes = await writer.putSegment(segment(first))
  for (const height of [12, 25])
    await writer.putCheckpoint({ epoch: 'a', height, through: height, time: 1, coins: 0, unsure: 0, lines: [] })
  const retention = new Retention(place)
  const { segments, bytes: left } = await retention.trimToBytes(2 * bytes)
  expect(segments).toBeLessThan(3)
  expect(left).toBeLessThan(3 * bytes)
  const [oldest] = await archive.segmentsFrom({ height: 0 }, 1)
  expect(oldest!.first).toBeGreaterThan(10)
  expect(await env.ARCHIVE.head(segmentKey('bounded', segment(10), 'events'))).toBeNull()
  expect(await archive.checkpointAt(24)).toBeNull()
  expect((await retention.trimToBytes(0)).segments).toBe(1)
})

describe('behind a log', () => {
  // Objects of an earlier test file that were reset amid a task keep their reservation until it expires.
  beforeAll(() => void vi.spyOn(archiveMemory, 'reserve').mockReturnValue(() => undefined))
  afterAll(() => void vi.restoreAllMocks())

  const archive = new StoredArchive(placeOf(env.CHAIN))
  const linesOf = (...asked: Parameters<StoredArchive['lines']>) => Array.fromAsync(archive.lines(...asked))
  const archiver = () => env.ARCHIVER.getByName(env.CHAIN)
  const status = () => env.BLOCK_LOG.getByName(env.CHAIN).status()
  const archived = async (height: number, books: number) => {
    await archiver().wake()
    const isDone = async () => {
      const { archive: told } = await status()
      expect([told?.height, (told?.checkpoint?.height ?? 0) >= books]).toEqual([height, true])
    }
    await vi.waitFor(isDone, { timeout: 30_000, interval: 50 })
  }
  const MINUTE_BLOCKS = 4
  const time = (height: number) => (height * 60_000) / MINUTE_BLOCKS
  const PAYER = `0x${'1'.repeat(40)}`
  const PAID = [`${PAYER} 7 BTC -1.0 2.0 0.1 ETH 1 2 3`, `0x${'2'.repeat(40)} 7 BTC 1 2 3`]

  it('all blocks are archived in segments of a minute, all books in a checkpoint, and the log knows it', async () => {
    const feeder = await FakeFeeder.connect()
    feeder.hello(100, 100)
    await feeder.next('welcome')
    feeder.snapshot(100, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
    for (let height = 101; height <= 112; height++)
      feeder.block(height, [{ coin: 'BTC', levels: levelsOf(['100', `${height}.0`, 1]) }], {
        ...(height === 105 && { funding: [{ coin: 'BTC', perUnit: '1' }], payments: PAID }),
        time: time(height),
      })
    await feeder.acked(112)
    await archived(111, 100)
    const segments = await archive.segmentsFrom({ height: 0 }, 9)
    expect(segments.map(({ first, last }) => [first, last])).toEqual([
      [101, 103],
      [104, 107],
      [108, 111],
    ])
    const lines = (await Promise.all(segments.map((one) => linesOf(one, 'books')))).flat()
    const told = lines.map((line) => JSON.parse(line) as { height: number; books: { levels: { sz: string }[][] }[] })
    expect(told.map(({ height, books }) => [height, books[0]!.levels[0]![0]!.sz])).toEqual(
      Array.from({ length: 11 }, (_, at) => [101 + at, `${101 + at}.0`]),
    )
    expect(JSON.parse((await linesOf(segments[0]!, 'events'))[0]!)).toMatchObject({ t: 'events', height: 101 })
    const paid = (await linesOf(segments[1]!, 'events')).filter((line) => line.includes('payments'))
    expect(paid.map((line) => JSON.parse(line))).toMatchObject([{ height: 105, payments: PAID }])
    const checkpoint = await archive.checkpointAt(1e9)
    expect(checkpoint).toMatchObject({ epoch: segments[0]!.epoch })
    const [book] = await Array.fromAsync(archive.books(checkpoint!.height, new Set(['BTC'])))
    expect(book!.levels).toEqual(levelsOf(['100', `${book!.height === 100 ? '1' : book!.height}.0`, 1]))
    expect((await status()).archive).toMatchObject({ height: 111, behind: 1, segments: 3, failure: null })
    feeder.close()
  })

  it('the log returns the payments of one wallet', async () => {
    const log = env.BLOCK_LOG.getByName(env.CHAIN) as unknown as BlockLogApi
    const asked = { v: 1, scope: { by: 'user', address: PAYER }, before: null, kind: 'funding' } as const
    const answer = await log.fills(asked)
    if (!('stretches' in answer)) throw new Error('not now')
    const rows = answer.stretches.flatMap(({ blocks }) => blocks.flatMap(({ height, ledger = [] }) => [height, ledger]))
    expect(rows).toMatchObject([105, [{ delta: { coin: 'BTC', usdc: '-1.0' } }, { time: 7, delta: { coin: 'ETH' } }]])
    expect(answer.head?.height).toBe(112)
  })

  it('a failing bucket is reported on /status, and the backlog is archived once it works again', async () => {
    const feeder = await FakeFeeder.connect()
    feeder.hello(100, 113)
    await feeder.next('welcome')
    for (let height = 113; height <= 120; height++) feeder.block(height, [], { time: time(height) })
    await feeder.acked(120)
    await env.HISTORY.prepare('ALTER TABLE segments RENAME TO away').run()
    await archiver().wake()
    const hasFailed = async () =>
      expect((await status()).archive).toMatchObject({
        height: 111,
        failure: { words: expect.stringContaining('segments') },
      })
    await vi.waitFor(hasFailed, { timeout: 30_000, interval: 50 })
    await env.HISTORY.prepare('ALTER TABLE away RENAME TO segments').run()
    await archived(119, 100)
    const segments = await archive.segmentsFrom({ height: 112 }, 9)
    expect(segments.map(({ first, last }) => [first, last])).toEqual([
      [112, 115],
      [116, 119],
    ])
    feeder.close()
  })
})
