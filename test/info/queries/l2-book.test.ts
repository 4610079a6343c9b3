// An aggregated l2Book reads only as much of the book as its 20 levels need.

import { expect, it } from 'vitest'
import { ok } from '../../../src/core/result.ts'
import { l2Book } from '../../../src/info/queries/l2Book.ts'
import type { Level } from '../../../src/protocol/feed/block.ts'
import { BTC } from '../answer/service-world.ts'

const side = (count: number, from: number, step: number): Level[] =>
  Array.from({ length: count }, (_, i) => ({ px: (from + i * step).toFixed(2), sz: '1', n: 1 }))

/** Resolves against a book and records the requested depths. */
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

it('reads 500 levels if they fill 20 aggregated levels', async () => {
  const { depths, levels } = await resolve([side(5_000, 90_000, -0.5), side(5_000, 90_001, 0.5)], 5)
  expect(depths).toEqual([500])
  expect(levels.map((one: Level[]) => one.length)).toEqual([20, 20])
})

it('reads the whole book otherwise', async () => {
  const book = [side(5_000, 90_000, -0.01), side(5_000, 90_001, 0.01)] as const
  const { depths, levels } = await resolve([book[0], book[1]], 5)
  expect(depths).toEqual([500, undefined])
  expect(levels[0].length).toBe(20)
  expect(levels[0][0]).toEqual({ px: '90000.0', sz: '1.0', n: 1 })
  expect(levels[0][1]).toEqual({ px: '89999.0', sz: '100.0', n: 100 })
})

it('accepts a short book', async () => {
  const { depths, levels } = await resolve([side(3, 90_000, -1), []], 5)
  expect(depths).toEqual([500])
  expect(levels[0].length).toBe(3)
})
