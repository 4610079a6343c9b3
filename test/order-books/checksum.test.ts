import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bookChecksum } from '../../src/order-books/checksum.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'

/** The checksum as the rule defines it, with another CRC implementation. */
function plain(sides: Levels): number {
  const text = (side: readonly Level[]) => side.slice(0, 10).map(({ px, sz, n }) => [px, sz, n].join(':'))
  return crc32(sides.map((side) => text(side).join(':')).join('/'))
}

const side = (from: number, by: number) =>
  fc
    .array(fc.record({ sz: fc.stringMatching(/^[1-9]\d{0,5}\.\d{1,8}$/), n: fc.integer({ min: 1, max: 99 }) }), {
      maxLength: 15,
    })
    .map((levels) => levels.map((level, at): Level => ({ px: `${from + by * at}.0`, ...level })))

// WS-147
it('is the CRC-32 of the ten best levels per side of any book', () => {
  fc.assert(
    fc.property(fc.tuple(side(100, -1), side(101, 1)), (levels) => {
      expect(bookChecksum(LevelBook.of(levels))).toBe(plain(levels))
    }),
  )
})

it('matches the documented examples', () => {
  const rule = readFileSync(join(import.meta.dirname, '../../docs/reference/websocket.md'), 'utf8').split(
    '**WS-147.**',
  )[1]!
  const vectors = [...rule.matchAll(/^\| `(\[.*?\])` \| `(\S+)` \| `(\d+)` \|$/gm)]
  expect(vectors).toHaveLength(4)
  for (const [, levels, text, checksum] of vectors)
    expect([bookChecksum(LevelBook.of(JSON.parse(levels!))), crc32(text!)]).toEqual([
      Number(checksum),
      Number(checksum),
    ])
})

it('reads no more of a deep book', () => {
  let looked = 0
  const level = (px: number): Level => ({
    px: `${px}.0`,
    sz: '1.0',
    get n() {
      looked++
      return 1
    },
  })
  const prices = Array.from({ length: 1_000 }, (_, at) => at + 1)
  const book = LevelBook.of([prices.map((at) => level(2_000 - at)), prices.map((at) => level(2_000 + at))])
  looked = 0
  bookChecksum(book)
  expect(looked).toBe(20)
})
