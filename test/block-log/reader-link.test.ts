import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PendingSegment } from '../../src/block-log/pending-segment.ts'
import { maxUnread, ReaderLink, ROWS_AHEAD_CHARS, rowsLimit, SLOW_CHARS } from '../../src/block-log/reader-link.ts'
import {
  type BlockTexts,
  digest,
  encodeBlock,
  hubBlockText,
  readBooksLine,
  readRows,
  type SegmentKind,
} from '../../src/block-log/segment.ts'
import type { Block } from '../../src/protocol/feed/block.ts'

const blockOf = (height: number): Block => ({
  height,
  time: height * 70,
  fills: [],
  ledger: [],
  funding: [],
  books: ['A', 'BB'].map((coin) => ({ coin, levels: [[{ px: `${height}.0`, sz: '1.0', n: 1 }], []] })),
})
const texts = (height: number) => encodeBlock(blockOf(height), 'e')
const shardOf = (coin: string) => coin.length - 1

describe('a reader of the log', () => {
  it('gets every height once and in order, however storage and live blocks interleave', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('hub' as const, 'relay' as const),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.constantFrom('block', 'flush', 'pump'), { maxLength: 60 }),
        (kind, from, actions) => {
          const reader = kind === 'hub' ? { kind, index: 1, shards: 2 } : { kind }
          const sent: number[] = []
          const socket = {
            send: (text: string) => sent.push((JSON.parse(text) as { height: number }).height),
            close: () => undefined,
          }
          const link = new ReaderLink({ v: 1, name: 'r', reader, cursor: null }, from, socket, shardOf)
          let head = 20
          let pending: BlockTexts[] = []
          const segments: BlockTexts[][] = [[...Array(20)].map((_, i) => texts(i + 1))]
          const lookUp = (segment: SegmentKind, height: number) => {
            const found = segments.find((one) => one[0]!.height <= height && one.at(-1)!.height >= height)
            if (segment === 'orders') return null
            return found?.map((one) => (segment === 'books' ? hubBlockText(one, () => true) : one.events)) ?? null
          }
          const settle = () => {
            while (link.catchUp(lookUp, () => null));
            for (const one of pending) link.offer(one)
          }
          for (const action of actions) {
            if (action === 'block') {
              const next = texts(++head)
              pending.push(next)
              link.offer(next)
            }
            if (action === 'flush' && pending.length > 0) {
              segments.push(pending)
              pending = []
            }
            if (action === 'pump') settle()
          }
          settle()
          expect(sent).toEqual([...Array(head - from + 1)].map((_, i) => from + i))
        },
      ),
    )
  })

  it('gets a gap in its turn, and continues after it', () => {
    const sent: unknown[] = []
    const socket = { send: (text: string) => void sent.push(JSON.parse(text)), close: () => undefined }
    const link = new ReaderLink({ v: 1, name: 'r', reader: { kind: 'relay' }, cursor: null }, 1, socket, shardOf)
    const segments = [[1, 2], [6]].map((heights) => heights.map((height) => texts(height)))
    const lookUp = (kind: SegmentKind, height: number) => {
      const found = segments.find((one) => one[0]!.height <= height && one.at(-1)!.height >= height)
      return found?.map(({ events }) => (kind === 'events' ? events : '')) ?? null
    }
    while (link.catchUp(lookUp, (height) => (height >= 3 && height <= 5 ? 5 : null)));
    link.offer(texts(7))
    expect(sent).toMatchObject([
      { height: 1 },
      { height: 2 },
      { t: 'gap', from: 3, to: 5 },
      { height: 6 },
      { height: 7 },
    ])
  })

  it('gets only its coins, with the same string live and from storage', () => {
    const one = texts(3)
    const wants = (coin: string) => coin === 'BB'
    const live = hubBlockText(one, wants)
    expect((JSON.parse(live) as { books: { coin: string }[] }).books.map(({ coin }) => coin)).toEqual(['BB'])
    expect(hubBlockText(readBooksLine(hubBlockText(one, () => true)), wants)).toBe(live)
    const unknown = encodeBlock({ ...blockOf(4), books: null }, null)
    expect(readBooksLine(hubBlockText(unknown, () => true))).toMatchObject({ height: 4, epoch: null, books: null })
  })
})

describe('the digest of a block', () => {
  it('distinguishes strings and is stable', () => {
    expect(digest('a')).not.toBe(digest('b'))
    expect(digest(texts(1).events)).toBe(digest(texts(1).events))
    expect(digest(texts(1).events)).not.toBe(digest(texts(2).events))
  })

  // FEED-33
  it('ignores rows that only some feeders were asked for', () => {
    const l4 = [{ coin: 'BTC', statuses: [], diffs: [1] }]
    const more = encodeBlock({ ...blockOf(1), orders: [{ user: '0x' }], l4 }, 'e')
    expect(more.digests).toEqual(texts(1).digests)
    expect(more.events).toBe(texts(1).events)
  })
})

// FEED-34
describe('rows of order-level books', () => {
  // FEED-35
  it('reach readers of their coin as one string, live and from storage; rows of old blocks reach no relay', () => {
    const rows = { statuses: [{ a: '\t\n' }], diffs: [{ b: 1 }] }
    const l4 = [
      { coin: 'BTC', ...rows },
      { coin: 'ETH', statuses: [], diffs: [] },
      { coin: 'SOL', ...rows },
    ]
    const block = encodeBlock({ ...blockOf(1), l4 }, 'e')
    const pending = new PendingSegment()
    pending.push(block, 0)
    const { lines } = pending.take()!
    const text = '"order_statuses":[{"a":"\\t\\n"}],"book_diffs":[{"b":1}]'
    const cursor = { epoch: 'e', height: 0 }
    for (const [reader, coins, from, rowsOf] of [
      [
        { kind: 'relay' },
        ['BTC', 'ETH', 'XRP'],
        cursor,
        [
          ['BTC', text],
          ['ETH', ''],
        ],
      ],
      [{ kind: 'relay' }, [], cursor, []],
      [{ kind: 'l4', coin: 'SOL' }, ['SOL'], cursor, [['SOL', text]]],
      [{ kind: 'l4', coin: 'SOL' }, ['SOL'], null, []],
    ] as const) {
      const sent: string[] = []
      const socket = { send: (frame: string) => void sent.push(frame), close: () => undefined }
      const wanted = { orders: new Set(), l4: new Set(coins) }
      const link = (head?: number) =>
        new ReaderLink({ v: 1, name: 'r', reader, cursor: from }, 1, socket, shardOf, wanted, head)
      link().offer(block)
      for (const head of [1, 1000])
        link(head).catchUp(
          (kind) => [lines[kind]!],
          () => null,
        )
      const read = sent.map((frame) => readRows(frame))
      expect(read.map(({ rows: found }) => [...found])).toEqual([rowsOf, rowsOf, reader.kind === 'relay' ? [] : rowsOf])
      for (const { head } of read) expect(JSON.parse(head)).toMatchObject({ height: 1, epoch: 'e' })
    }
  })

  // FEED-35
  it('are withheld from a relay that has too much unread data; all other data is sent', () => {
    const l4 = [{ coin: 'BTC', statuses: ['x'.repeat(1024 * 1024)], diffs: [] }]
    const known: boolean[] = []
    const socket = { send: (text: string) => void known.push(readRows(text).rows.has('BTC')), close: () => undefined }
    const request = { v: 1, name: 'r', reader: { kind: 'relay' }, cursor: null } as const
    const link = new ReaderLink(request, 1, socket, shardOf, { orders: new Set(), l4: new Set(['BTC']) })
    const send = (from: number, to: number) => {
      for (let height = from; height <= to; height++) link.offer(encodeBlock({ ...blockOf(height), l4 }, 'e'))
      return known.splice(0)
    }
    expect(send(1, 30)).toEqual([...Array(24).fill(true), ...Array(6).fill(false)])
    link.onReadMore(1024 * 1024)
    expect(send(31, 32)).toEqual([true, false])
    // It cannot have read more than it was sent.
    link.onReadMore(Number.POSITIVE_INFINITY)
    expect(send(33, 58)).toEqual([...Array(24).fill(true), ...Array(2).fill(false)])
  })

  it('that are queued for all readers together are limited, and a reader that keeps up gets all of them', () => {
    const BLOCK_CHARS = 1024 * 1024
    const READERS = 40
    const wanted = { orders: new Set<string>(), l4: new Set(['BTC']) }
    let closed = 0
    let rowsOfFast = 0
    const links: ReaderLink[] = Array.from({ length: READERS }, (_, at) => {
      const reader = at < 30 ? ({ kind: 'relay' } as const) : ({ kind: 'l4', coin: 'BTC' } as const)
      const request = { v: 1, name: `${at}`, reader, cursor: { height: 0, epoch: 'e' }, follows: reader.kind === 'l4' }
      const socket = {
        send: (text: string) => {
          if (at === 0) rowsOfFast += Number(readRows(text).rows.has('BTC'))
        },
        close: () => {
          closed++
          links.splice(links.indexOf(link), 1)
        },
      }
      const link = new ReaderLink(request, 1, socket, shardOf, wanted, 0, () => rowsLimit(links))
      return link
    })
    const [fast] = links
    let most = 0
    for (let height = 1; height <= 12; height++) {
      const l4 = [{ coin: 'BTC', statuses: ['x'.repeat(BLOCK_CHARS)], diffs: [] }]
      const block = encodeBlock({ ...blockOf(height), l4 }, 'e')
      for (const link of [...links]) link.offer(block)
      fast!.onReadMore(Number.POSITIVE_INFINITY)
      maxUnread([...links], 0)
      most = Math.max(
        most,
        links.reduce((sum, { queued }) => sum + queued, 0),
      )
    }
    expect(closed).toBe(10)
    expect(rowsOfFast).toBe(12)
    expect(most).toBeGreaterThan(ROWS_AHEAD_CHARS)
    expect(most).toBeLessThanOrEqual(2 * ROWS_AHEAD_CHARS + READERS * 1.01 * BLOCK_CHARS)
  })
})

describe('order statuses', () => {
  it('reach only the relays that want them, live and from storage', () => {
    const orders = ['a', 'b', 'a'].map((user, oid) => ({ user, oid }))
    const block = encodeBlock({ ...blockOf(1), orders: [...orders, null] }, 'e')
    const pending = new PendingSegment()
    pending.push(block, 0)
    const { lines } = pending.take()!
    expect(lines.events).toBe(block.events)
    for (const users of [[], ['a'], ['b', 'c']]) {
      const sent: { orders?: object[] }[] = []
      const socket = { send: (text: string) => void sent.push(JSON.parse(text)), close: () => undefined }
      const request = { v: 1, name: 'r', reader: { kind: 'relay' as const }, cursor: null }
      const link = () => new ReaderLink(request, 1, socket, shardOf, { orders: new Set(users), l4: new Set() })
      link().offer(block)
      link().catchUp(
        (kind) => [lines[kind]!],
        () => null,
      )
      const own = orders.filter(({ user }) => users.includes(user))
      expect(sent.map((frame) => frame.orders ?? [])).toEqual([own, own])
      for (const { orders: _, ...rest } of sent) expect(rest).toEqual(JSON.parse(texts(1).events))
    }
  })
})

const reader = (follows: boolean) => {
  let closed = false
  const request = { v: 1, name: 'r', reader: { kind: 'hub', index: 0, shards: 1 } as const, cursor: null, follows }
  const socket = { send: () => undefined, close: () => (closed = true) }
  const link = new ReaderLink(request, 0, socket, () => 0)
  return { link, isClosed: () => closed }
}

// FEED-24
it('unread characters are those that the slowest reader has not reported as read', () => {
  const fast = reader(true)
  const slow = reader(true)
  const silent = reader(false)
  const links = [fast.link, slow.link, silent.link]
  for (const link of links) link.sendFrame('x'.repeat(1000))
  fast.link.onRead(900, 5)
  fast.link.onRead(800, 6)
  slow.link.onRead(2000, 6)
  slow.link.onRead(Number.NaN, 6)
  expect([fast.link.unread, slow.link.unread, silent.link.unread]).toEqual([100, 1000, 0])
  expect(maxUnread(links, 7)).toBe(1000)
})

it('a stalled reader is disconnected and delays nobody', () => {
  const { link, isClosed } = reader(true)
  link.readMs = 1000
  link.sendFrame('x'.repeat(SLOW_CHARS + 1))
  expect([maxUnread([link], 11_000), isClosed()]).toEqual([SLOW_CHARS + 1, false])
  expect([maxUnread([link], 11_001), isClosed()]).toEqual([0, true])
})
