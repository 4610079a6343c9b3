// The small rules of the archive: what the log hands over and keeps, pages of books, lines, bounds.

import { describe, expect, it } from 'vitest'
import { checkpointKey, segmentKey } from '../../../src/archive/archive/archive-keys.ts'
import { collectBooks, isCheckpointDue, linesOf, waitMs } from '../../../src/archive/archive/archive-runner.ts'
import { pack, unpack } from '../../../src/archive/archive/gzip-lines.client.ts'
import { cutoffMs, excessSegments, isCheckpointUnused } from '../../../src/archive/archive/retention.ts'
import { archivePage, type DurableSource } from '../../../src/block-log/pages.ts'
import type { SegmentEntry } from '../../../src/block-log/unarchived-segments.ts'
import { UnarchivedSegments } from '../../../src/block-log/unarchived-segments.ts'
import { fromChunks, toChunks } from '../../../src/core/chunks.ts'
import { bookPage } from '../../../src/order-books/book-page.ts'
import type { StoredBlocks } from '../../../src/protocol/feed/archive-api.ts'
import type { HubBooks } from '../../../src/protocol/hub/hub-api.ts'

const bytes = (text: string) => toChunks(text)
const listed = (first: number, last: number, size = 10): SegmentEntry => {
  return { first, last, time: last * 70, chunks: { books: 1, events: 1, orders: 1 }, bytes: size }
}

describe('a page of the log', () => {
  const blocks = (first: number, last: number, size = 1): StoredBlocks => {
    return { first, last, books: bytes('b'.repeat(size)), events: bytes('e') }
  }
  const held = (
    stored: readonly StoredBlocks[],
    durable: number,
    gaps: Record<number, number> = {},
  ): DurableSource => ({
    durable,
    blocksWith: (height) => stored.find(({ first, last }) => first <= height && height <= last) ?? null,
    firstAbove: (height) => stored.find(({ first }) => first > height)?.first ?? null,
    gapAt: (height) => gaps[height] ?? null,
  })
  const spans = (parts: ReturnType<typeof archivePage>) =>
    parts.map((part) => ('gap' in part ? `gap ${part.gap.from}-${part.gap.to}` : `${part.first}-${part.last}`))

  it('has stored segments in order with the gaps between them, and nothing that is not durable', () => {
    const all = [blocks(1, 4), blocks(5, 7), blocks(10, 12), blocks(13, 15)]
    expect(spans(archivePage(3, held(all, 14, { 8: 9 })))).toEqual(['1-4', '5-7', 'gap 8-9', '10-12'])
    expect(archivePage(16, held(all, 15))).toEqual([])
  })

  it('reports heights that the log has dropped, or never had below its first block, as a gap', () => {
    expect(spans(archivePage(0, held([blocks(100, 104)], 104)))).toEqual(['gap 0-99', '100-104'])
  })

  it('ends with the segment that fills it', () => {
    const all = [blocks(1, 1, 60), blocks(2, 2, 60), blocks(3, 3, 60)]
    expect(spans(archivePage(1, held(all, 3), 100))).toEqual(['1-1', '2-2'])
  })
})

describe('the backlog for the archive', () => {
  it('is empty until the archive has stored something', () => {
    const kept = new UnarchivedSegments(null, [])
    expect(kept.retain([listed(1, 9)])).toEqual({ spared: [], puts: {} })
  })

  it('has the segments that are not archived, without the kinds of lines that only readers need', () => {
    const kept = new UnarchivedSegments(9, [])
    const { spared, puts } = kept.retain([listed(1, 9), listed(10, 19), listed(20, 29)])
    expect(spared.map(({ first, chunks }) => [first, chunks])).toEqual([
      [10, { books: 1, events: 1 }],
      [20, { books: 1, events: 1 }],
    ])
    expect(Object.keys(puts)).toEqual(['kept/0000000000000010', 'kept/0000000000000020'])
    expect([kept.at(15)?.first, kept.at(30), kept.firstAbove(9), kept.firstAbove(20)]).toEqual([10, null, 10, null])
    expect(kept.release(19)).toMatchObject({ segments: [{ first: 10 }], keys: ['kept/0000000000000010'] })
    expect(new UnarchivedSegments(19, spared.slice(1)).at(25)?.first).toBe(20)
    expect(kept.release(null)).toMatchObject({ segments: [{ first: 20 }] })
  })

  it('is in height order, whatever the block times are', () => {
    const kept = new UnarchivedSegments(0, [])
    kept.retain([listed(20, 29)])
    kept.retain([listed(10, 19)])
    expect([kept.at(25)?.first, kept.at(15)?.first, kept.firstAbove(12)]).toEqual([20, 10, 20])
  })

  it('is bounded: after hours of blocks, no more blocks are accepted', () => {
    const kept = new UnarchivedSegments(0, [])
    kept.retain([listed(1, 9, 4 * 1024 ** 3)])
    expect(kept.isFull).toBe(false)
    kept.retain([listed(10, 19, 1)])
    expect(kept.isFull).toBe(true)
    kept.release(9)
    expect(kept.isFull).toBe(false)
  })
})

describe('books of a hub', () => {
  const shard = (coins: readonly string[], unsure: readonly string[] = [], suspects: readonly string[] = []) => ({
    coins: () => coins,
    suspects,
    checkpoint: (coin: string) =>
      unsure.includes(coin)
        ? null
        : { coin, epoch: 'a', height: 5, time: 1, seq: 3, lastPx: null, levels: [[], []] as [[], []] },
  })

  it('come in pages, sorted by coin, without unverified books', () => {
    const page = (after: string | null) => bookPage(shard(['c', 'a', 'b', 'd'], ['b'], ['e']) as never, after, 10)
    const first = page(null)
    expect([first.books.map(({ coin }) => coin), first.left, first.next]).toEqual([['a', 'c'], 1, 'c'])
    expect(page('c')).toMatchObject({ books: [{ coin: 'd', levels: '[[],[]]' }], left: 1, next: null })
  })

  it('are lines of one epoch with the lowest height, or none', async () => {
    const page = (hub: number, epoch = 'a'): HubBooks => {
      const books = [{ coin: `C${hub}`, height: 5 + hub, seq: 1, levels: '[[],[]]' }]
      return { v: 1, epoch, time: 70 + hub, books, left: hub, next: null }
    }
    const taken = await collectBooks(2, 'a', async (hub) => page(hub))
    expect(taken).toMatchObject({ height: 5, through: 6, time: 70, coins: 2, unsure: 1 })
    expect(taken!.lines.map((line) => JSON.parse(line))).toEqual([
      { coin: 'C0', height: 5, seq: 1, levels: [[], []] },
      { coin: 'C1', height: 6, seq: 1, levels: [[], []] },
    ])
    expect(await collectBooks(2, 'a', async (hub) => page(hub, hub === 1 ? 'b' : 'a'))).toBeNull()
  })
})

describe('lines of an archive', () => {
  const books = (height: number) =>
    `{"v":1,"t":"block","epoch":"a","height":${height},"time":7,"px":{"BTC":"1"},"books":[]}`

  it('are distinguished by their first characters', () => {
    const [line] = linesOf({ first: 4, last: 5, books: bytes(`${books(4)}\n${books(5)}`), events: bytes('{}\n{}') })
    expect(line).toEqual({ height: 4, time: 7, epoch: 'a', books: books(4), events: '{}' })
  })

  it.each([
    [
      'too few',
      { first: 4, last: 5, books: bytes(books(4)), events: bytes('{}\n{}') },
      'the log has 1, 2, 2 lines of the 2',
    ],
    ['others', { first: 4, last: 4, books: bytes(books(9)), events: bytes('{}') }, 'block 9 instead of block 4'],
  ])('that are %s are rejected', (_, stored, words) => {
    expect(() => linesOf(stored)).toThrow(words)
  })

  it('are packed into the same bytes each time, and unpacked one by one', async () => {
    const lines = Array.from({ length: 40_000 }, (_, at) => `{"height":${at},"text":"é${at * 7}"}`)
    const one = await pack(lines)
    const other = await pack(lines)
    expect(one.sha256).toBe(other.sha256)
    expect(fromChunks([one.body]) === fromChunks([other.body])).toBe(true)
    expect(await Array.fromAsync(unpack(one.body))).toEqual(lines)
  })
})

describe('the schedule', () => {
  const page = (height: number, time: number, epoch: string | null = 'a', repairedAt: number | null = null) => {
    return { head: { height, time }, epoch, repairedAt }
  }
  const last = { epoch: 'a', height: 10, time: 1_000_000 }

  it.each([
    ['no books are known', last, page(20, 9e6, null), false],
    ['none was written yet', null, page(20, 9e6), true],
    ['an epoch began', last, page(20, 1_000_100, 'b'), true],
    ['a quarter of an hour began', last, page(20, 1_800_000), true],
    ['a clock was ahead before', last, page(20, 899_999), true],
    ['nothing happened', last, page(20, 1_799_999), false],
    ['a book was repaired a minute ago', last, page(20, 1_060_000, 'a', 15), true],
    ['a book was repaired just now', last, page(20, 1_059_999, 'a', 15), false],
    ['a book was repaired before', last, page(20, 1_799_999, 'a', 9), false],
  ])('decides whether to write all books: %s', (_, before, now, isDue) => {
    expect(isCheckpointDue(before, now)).toBe(isDue)
  })

  it('waits until the open minute has ended, but at most a minute', () => {
    expect([waitMs(60_000, 10_000), waitMs(60_000, 59_900), waitMs(60_000, 90_000), waitMs(600_000, 0)]).toEqual([
      51_500, 1_600, 1_000, 60_000,
    ])
  })

  it('removes the oldest segments above a limit, and unused checkpoints', () => {
    const segments = [1, 2, 3].map((first) => ({ first, last: first, bytes: 10 }))
    const overdue = (of: number, most: number) => excessSegments(segments, of, most).map(({ first }) => first)
    expect([overdue(30, 30), overdue(30, 29), overdue(30, 0), overdue(100, 5)]).toEqual([[], [1], [1, 2, 3], [1, 2, 3]])
    expect([isCheckpointUnused(8, 10), isCheckpointUnused(9, 10)]).toEqual([true, false])
  })

  it('counts days back from the newest block, or from the clock if that is earlier', () => {
    const day = 86_400_000
    const newest = 900_000_000
    expect([cutoffMs(null, newest, newest), cutoffMs(2, newest + 5 * day, newest)]).toEqual([null, newest - 2 * day])
    expect(cutoffMs(2, newest - day, newest)).toBe(newest - 3 * day)
  })

  it('names objects so that names sort by height', () => {
    expect(segmentKey('c', { first: 9, last: 10, firstMs: 86_400_000 }, 'books')).toBe(
      'archive/c/1970-01-02/000000000009-000000000010.books.gz',
    )
    expect(checkpointKey('c', 845_000_000)).toBe('archive/c/checkpoints/000845000000.gz')
    expect(segmentKey('c', { first: 1, last: 1, firstMs: 1e18 }, 'events')).toContain('9999-12-31')
  })
})
