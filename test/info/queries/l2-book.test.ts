// An aggregated l2Book reads as much of the book as its 20 levels need, and no more.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { ok } from '../../../src/core/result.ts'
import { l2Book } from '../../../src/info/queries/l2Book.ts'
import { ShardBooks } from '../../../src/order-books/shard-books.ts'
import type { Level, Levels } from '../../../src/protocol/feed/block.ts'
import { BTC, createWorld } from '../answer/service-world.ts'

const side = (count: number, from: number, step: number): Level[] =>
  Array.from({ length: count }, (_, i) => ({ px: (from + i * step).toFixed(2), sz: '1', n: 1 }))

/** Resolves against a book, and tells the depths that were asked for. */
async function resolve(book: readonly [Level[], Level[]], nSigFigs: number) {
  const depths: (number | undefined)[] = []
  const books = {
    snapshot: async (_: string, depth?: number) => {
      depths.push(depth)
      return ok({ ...BTC, levels: JSON.stringify(book.map((levels) => levels.slice(0, depth))) })
    },
    tops: () => Promise.reject(new Error('not asked')),
  }
  const request = l2Book.request.parse({ type: 'l2Book', coin: 'BTC', nSigFigs })
  const answer = await l2Book.resolve(request, { books } as never)
  return { depths, levels: answer.ok ? JSON.parse(answer.value.body).levels : null }
}

it('reads 500 levels where they fill 20 aggregated ones', async () => {
  const { depths, levels } = await resolve([side(5_000, 90_000, -0.5), side(5_000, 90_001, 0.5)], 5)
  expect(depths).toEqual([500])
  expect(levels.map((one: Level[]) => one.length)).toEqual([20, 20])
})

it('reads the whole book where they do not', async () => {
  const book = [side(5_000, 90_000, -0.01), side(5_000, 90_001, 0.01)] as const
  const { depths, levels } = await resolve([book[0], book[1]], 5)
  expect(depths).toEqual([500, undefined])
  expect(levels[0].length).toBe(20)
  expect(levels[0][0]).toEqual({ px: '90000.0', sz: '1.0', n: 1 })
  expect(levels[0][1]).toEqual({ px: '89999.0', sz: '100.0', n: 100 })
})

it('is content with a short book', async () => {
  const { depths, levels } = await resolve([side(3, 90_000, -1), []], 5)
  expect(depths).toEqual([500])
  expect(levels[0].length).toBe(3)
})

describe('what whole books cost', () => {
  const LEVELS = 10_000
  const EPOCH = '5a1f7a6e-7c0e-4d3b-9a3e-111111111111'
  const CALL = { type: 'l2BookDiffSnapshot', coin: 'BTC' }

  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** A hub of one deep book to which a block comes whenever it is asked. */
  function busyHub() {
    const side = (sign: number): Level[] =>
      Array.from({ length: LEVELS }, (_, at) => ({ px: `${50_000 + sign * (at + 1)}.0`, sz: '1.5', n: 1 }))
    const books = new ShardBooks()
    const seed = { scope: 'all' as const, epoch: EPOCH, height: 1, time: 1, part: 0, parts: 1 }
    books.seed({ ...seed, books: [{ coin: 'BTC', levels: [side(-1), side(1)] }] })
    const block = () => {
      const height = books.height! + 1
      const levels: Levels = [[{ px: '49999.0', sz: `${height}.0`, n: 2 }], []]
      books.apply({ v: 1, t: 'block', epoch: EPOCH, height, time: height, books: [{ coin: 'BTC', levels }], px: {} })
    }
    return {
      books,
      port: {
        snapshot: async (coin: string) => {
          const { height, time } = books
          const snapshot = { coin, time, height: height!, epoch: EPOCH, ...books.encode(coin)! }
          block()
          for (let turn = 0; turn < 5; turn++) await Promise.resolve()
          return ok(snapshot)
        },
        tops: () => Promise.reject(new Error('not asked')),
      },
    }
  }

  it('a book of 20,000 levels is written down at most twice for 100 calls at once, and each pays', async () => {
    const { port, books } = busyHub()
    const world = createWorld({ books: port })
    const written = vi.spyOn(JSON, 'stringify')
    const replies = await Promise.all(Array.from({ length: 100 }, () => world.send(CALL)))
    const whole = written.mock.calls.filter(([value]) => Array.isArray(value) && value[0]?.length === LEVELS)
    expect(whole.length).toBe(2)
    expect([new Set(replies.map(({ status }) => status)), world.charged.length]).toEqual([new Set([200]), 100])
    expect(replies.map(({ headers }) => headers['x-block-height'])).toEqual(['1', ...Array(99).fill('2')])
    expect(JSON.parse(replies[99]!.body)).toMatchObject({ coin: 'BTC', height: 2, seq: 2, epoch: EPOCH })
    expect(books.height).toBe(3)
  })

  it('every call sees a book from after it came', async () => {
    const { port, books } = busyHub()
    const world = createWorld({ books: port })
    const heights: [number, Promise<number>][] = []
    for (let i = 0; i < 30; i++) {
      heights.push([books.height!, world.send(CALL).then(({ headers }) => Number(headers['x-block-height']))])
      for (let turn = 0; turn < i % 7; turn++) await Promise.resolve()
    }
    for (const [asked, answered] of heights) expect(await answered).toBeGreaterThanOrEqual(asked)
    // Calls were shared, or this would show nothing.
    expect(books.height! - 1).toBeLessThan(30)
  })
})
