import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { overlay } from '../../src/order-books/coin-book.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import { bookDigest } from '../block-log/book-digest.ts'

// Different spellings of one price, prices that only exact comparison distinguishes, and ordinary ones.
const px = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map(String),
  fc.integer({ min: 1, max: 30 }).map((n) => `${n}.0`),
  fc.constantFrom('10.000000000000000001', '10.000000000000000002', '0.000000000000000001'),
)
const level: fc.Arbitrary<Level> = fc
  .tuple(px, fc.integer({ min: 0, max: 5 }))
  .map(([price, n]) => ({ px: price, sz: n === 0 ? '0' : `${n}.5`, n }))
const levels: fc.Arbitrary<Levels> = fc.tuple(fc.array(level, { maxLength: 8 }), fc.array(level, { maxLength: 8 }))

/** The same order book in the simplest form: a map by exact value, sorted on request. */
function naive(changes: readonly Levels[]): Levels {
  const scaled = (text: string) =>
    BigInt(
      text.includes('.') ? text.replace(/\.(\d*)$/, (_, f: string) => f.padEnd(18, '0')) : `${text}${'0'.repeat(18)}`,
    )
  const side = (index: 0 | 1) => {
    const map = new Map<bigint, Level>()
    for (const change of changes)
      for (const one of change[index]) {
        if (one.n === 0) map.delete(scaled(one.px))
        else map.set(scaled(one.px), one)
      }
    const sorted = [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    return index === 0 ? sorted.reverse() : sorted
  }
  return [side(0), side(1)]
}

const bookOf = (changes: readonly Levels[]): LevelBook => {
  const book = new LevelBook()
  for (const change of changes) book.apply(change)
  return book
}

/** Levels by side and price text, as most clients store them. */
function textsOf(changes: readonly Levels[]): Map<string, Level>[] {
  return ([0, 1] as const).map((side) => {
    const byPx = new Map<string, Level>()
    for (const level of changes.flatMap((change) => change[side])) {
      if (level.n === 0) byPx.delete(level.px)
      else byPx.set(level.px, level)
    }
    return byPx
  })
}

describe('a level book', () => {
  it('equals a naive book after any changes', () => {
    fc.assert(
      fc.property(fc.array(levels, { maxLength: 12 }), (changes) => {
        const book = bookOf(changes)
        const [bids, asks] = naive(changes)
        expect(book.levels()).toEqual([bids, asks])
        expect(book.levels(2)).toEqual([bids.slice(0, 2), asks.slice(0, 2)])
        expect([book.bestPx(0), book.bestPx(1)]).toEqual([bids[0]?.px ?? null, asks[0]?.px ?? null])
      }),
    )
  })

  it('has the right digest after any changes, and any wrong level changes the digest', () => {
    fc.assert(
      fc.property(fc.array(levels, { maxLength: 12 }), fc.constantFrom('px', 'sz', 'n'), (changes, field) => {
        const book = bookOf(changes)
        const whole = book.levels()
        expect(book.digest).toBe(bookDigest(whole))
        const again = LevelBook.of(whole)
        expect([again.levels(), again.digest]).toEqual([whole, book.digest])
        for (const side of [0, 1] as const)
          for (const [at, one] of whole[side].entries()) {
            const wrong = { ...one, [field]: field === 'n' ? one.n + 1 : `${one.px}1` }
            const lying: Levels = [[...whole[0]], [...whole[1]]]
            lying[side][at] = wrong
            expect(bookDigest(lying)).not.toBe(book.digest)
            expect(bookDigest([[one], []])).not.toBe(bookDigest([[], [one]]))
          }
      }),
    )
  })

  it('loads levels in any order, with the same result as changes', () => {
    fc.assert(
      fc.property(fc.array(levels, { maxLength: 6 }), (runs) => {
        const loaded = new LevelBook()
        for (const run of runs) loaded.append(run)
        loaded.settle()
        const book = bookOf(runs)
        expect([loaded.levels(), loaded.digest]).toEqual([book.levels(), book.digest])
      }),
    )
  })

  it('loads a sorted book without searching', () => {
    let compared = 0
    const counted = (value: string): string => {
      const read = () => {
        compared++
        return value
      }
      return { toString: read, [Symbol.toPrimitive]: read } as unknown as string
    }
    const side = (sign: 1 | -1) =>
      Array.from({ length: 500 }, (_, i) => ({ px: counted(String(1000 + sign * (i + 1))), sz: '1.0', n: 1 }))
    const book = LevelBook.of([side(-1), side(1)])
    expect(book.size).toBe(1000)
    expect(compared).toBeLessThan(1000 * 3)
  })

  it('returns changes that keep each price once in a copy that finds levels by string', () => {
    fc.assert(
      fc.property(fc.array(levels, { maxLength: 12 }), (changes) => {
        const book = new LevelBook()
        const told = changes.map((change) => book.apply(change))
        expect(textsOf(told)).toEqual(textsOf([book.levels()]))
        const joined = told.reduce(overlay, [[], []])
        expect(textsOf([joined])).toEqual(textsOf([book.levels()]))
        expect(bookOf([joined]).levels()).toEqual(book.levels())
      }),
    )
  })

  it('returns the changes that turn it into a different book', () => {
    fc.assert(
      fc.property(fc.array(levels, { maxLength: 6 }), fc.array(levels, { maxLength: 6 }), (from, to) => {
        const book = bookOf(from)
        const target = bookOf(to)
        const changes = book.changesTo(target)
        const texts = textsOf([book.levels(), changes])
        book.apply(changes)
        expect([book.levels(), book.digest]).toEqual([target.levels(), target.digest])
        expect(texts).toEqual(textsOf([target.levels()]))
        expect(book.changesTo(target)).toEqual([[], []])
      }),
    )
  })
})
