// Order-book snapshots in transit: split by a feeder, forwarded by the log, accepted by a hub.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeedIntake, SeedRelay } from '../../src/block-log/seed-relay.ts'
import { SnapshotEncoder } from '../../src/feeder/snapshot-encoder.ts'
import { ShardBooks } from '../../src/order-books/shard-books.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import type { HubSeed } from '../../src/protocol/feed/log-api.ts'
import { FRAME_MAX_BYTES, SnapshotFrame } from '../../src/protocol/feed/protocol.ts'

const side = (sign: 1 | -1, count: number) =>
  Array.from({ length: count }, (_, i) => ({ px: `${50_000 + sign * (i + 1)}.5`, sz: `${i}.25`, n: 1 }))
const bookOf = ([bids, asks]: readonly [number, number]): Levels => [side(-1, bids), side(1, asks)]

type Books = ReadonlyMap<string, Levels>
const cutOf = (books: Books, scope: 'all' | 'coins' = 'all') =>
  new SnapshotEncoder({ scope, height: 7, time: 8 }, [...books.keys()], {
    depths: (coin) => [books.get(coin)![0].length, books.get(coin)![1].length],
    side: (coin, side) => books.get(coin)![side],
  })
function partsOf(books: Books): SnapshotFrame[] {
  const cut = cutOf(books)
  const parts: SnapshotFrame[] = []
  while (!cut.isDone) {
    const text = cut.next()!
    expect(text.length).toBeLessThan(FRAME_MAX_BYTES)
    parts.push(SnapshotFrame.parse(JSON.parse(text)))
  }
  return parts
}

/** Hubs of two shards: coins are assigned by the parity of their name's length. */
function hubs() {
  return [0, 1].map((index) => {
    const books = new ShardBooks()
    const taken: string[] = []
    return {
      books,
      taken,
      kind: { kind: 'hub', index, shards: 2 } as const,
      height: 7,
      hasCoin: (coin: string) => coin.length % 2 === index,
      sendFrame: (text: string) => taken.push(...(books.seed(JSON.parse(text) as HubSeed) ?? [])),
    }
  })
}

describe('books of all coins', () => {
  // FEED-6, FEED-17
  it('reach the hubs unchanged with the last part, however they are split', () => {
    const depths = fc.tuple(fc.nat(7000), fc.nat(5000))
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.stringMatching(/^[A-Za-z]{1,3}$/), depths), { maxLength: 6 }), (list) => {
        const books = new Map(list.map(([coin, depth]) => [coin, bookOf(depth)]))
        const parts = partsOf(books)
        const two = hubs()
        const relay = new SeedRelay(parts[0]!, 'e', two)
        for (const part of parts) {
          for (const hub of two) expect([hub.books.ready, hub.taken]).toEqual([false, []])
          expect(relay.intake.push(part)).toBeNull()
          relay.forward(part, 8)
        }
        expect(relay.intake.isComplete).toBe(true)
        expect(relay.intake.coins).toEqual(new Set(books.keys()))
        for (const hub of two) {
          expect([hub.books.ready, hub.books.epoch, hub.books.height]).toEqual([true, 'e', 7])
          for (const [coin, levels] of books)
            expect(hub.books.encode(coin)?.levels).toBe(hub.hasCoin(coin) ? JSON.stringify(levels) : undefined)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('that are interrupted leave the old books unchanged', () => {
    const parts = partsOf(new Map([['BTC', bookOf([9000, 9000])]]))
    const [, hub] = hubs()
    const old = bookOf([3, 3])
    const seed = { scope: 'all' as const, epoch: 'old', height: 7, time: 1, part: 0, parts: 1 }
    hub!.books.seed({ ...seed, books: [{ coin: 'BTC', levels: old }] })
    const relay = new SeedRelay(parts[0]!, 'new', [hub!])
    for (const part of parts.slice(0, -1)) relay.forward(part, 8)
    hub!.books.apply({ v: 1, t: 'block', epoch: 'old', height: 8, time: 2, books: [], px: {} })
    relay.forward(parts.at(-1)!, 8)
    expect([hub!.books.epoch, hub!.books.encode('BTC')?.levels]).toEqual(['old', JSON.stringify(old)])
  })

  it('are not continued if they changed in the meantime', () => {
    const books = new Map([['BTC', bookOf([4000, 0])]])
    const cut = cutOf(books)
    expect(cut.next()).not.toBeNull()
    const deeper = cutOf(books)
    books.set('BTC', bookOf([4001, 0]))
    expect(deeper.next()).toBeNull()
    // Data already read for a coin does not change.
    expect(cut.next()).not.toBeNull()
  })
})

describe('the log', () => {
  const part = (at: number, coins: readonly string[], more: Partial<SnapshotFrame> = {}) => {
    const books = coins.map((coin) => ({ coin, levels: bookOf([1, 1]) }))
    return { scope: 'all' as const, height: 7, books, part: at, parts: 3, ...more }
  }

  // FEED-6
  it('rejects a part out of order and a repeated coin', () => {
    const intake = () => {
      const one = new SeedIntake(part(0, []))
      expect(one.push(part(0, ['A', 'B']))).toBeNull()
      return one
    }
    expect(intake().push(part(2, []))).toMatchObject({ field: 'part' })
    expect(intake().push(part(1, [], { height: 8 }))).toMatchObject({ field: 'part' })
    expect(intake().push(part(1, [], { parts: 4 }))).toMatchObject({ field: 'part' })
    expect(intake().push(part(1, ['C', 'A']))).toMatchObject({ field: 'books.1.coin' })
    expect(intake().push(part(1, ['B', 'B', 'C']))).toBeNull()
  })

  it('bounds the memory of a snapshot in the log and in hubs', () => {
    const names = Array.from({ length: 20_001 }, (_, i) => `c${i}`)
    expect(new SeedIntake(part(0, [])).push(part(0, names))).toMatchObject({ field: 'books' })
    const deep = new SeedIntake({ ...part(0, []), parts: 4000 })
    const levels = bookOf([100_000, 0])
    const refusals = Array.from({ length: 41 }, (_, at) =>
      deep.push({ ...part(at, []), parts: 4000, books: [{ coin: 'A', levels }] }),
    )
    expect(refusals.findIndex((one) => one !== null)).toBe(40)
  })

  it('sends a repair to hubs at its height, and reports the hubs that missed it', () => {
    const [even, odd] = hubs()
    const relay = new SeedRelay({ ...partsOf(new Map())[0]!, scope: 'coins', parts: 2 }, 'e', [
      even!,
      { ...odd!, height: 6 },
    ])
    relay.intake.push({ scope: 'coins', height: 7, part: 0, parts: 2, books: [{ coin: 'BTC', levels: [[], []] }] })
    expect([relay.isIncompleteFor(even!), relay.isIncompleteFor(odd!)]).toEqual([false, true])
    expect(relay.isIncompleteFor({ ...odd!, hasCoin: () => false })).toBe(false)
    expect(relay.isIncompleteFor({ ...odd!, kind: { kind: 'relay' } })).toBe(false)
  })
})
