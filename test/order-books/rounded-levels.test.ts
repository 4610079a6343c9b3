import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDecimals, fromScaled, toScaled } from '../../src/core/decimal.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import { RoundedBook, roundedLevels } from '../../src/order-books/rounded-book.ts'
import { aggregateBook, spreadOf } from '../../src/order-books/rounded-levels.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'

const level = (px: string, sz = '1', n = 1): Level => ({ px, sz, n })
const pxs = (levels: readonly Level[]) => levels.map(({ px }) => px)

/** Prices that are rounded to one price on each side. */
function rounded(px: string, nSigFigs: number, mantissa = 1): string[] {
  const { levels } = aggregateBook([[level(px)], [level(px)]], { nSigFigs, mantissa, limit: 20 })
  return [...pxs(levels[0]), ...pxs(levels[1])]
}

describe('aggregateBook', () => {
  it.each([
    ['81307', 5, 1, ['81307.0', '81307.0']],
    ['81307', 5, 2, ['81306.0', '81308.0']],
    ['81307', 5, 5, ['81305.0', '81310.0']],
    ['81307', 2, 1, ['81000.0', '82000.0']],
    ['81000', 2, 1, ['81000.0', '81000.0']],
    ['100001', 5, 1, ['100000.0', '100010.0']],
    ['0.00001234', 2, 1, ['0.000012', '0.000013']],
    ['1.0003', 5, 5, ['1.0', '1.0005']],
  ])('%s to %i figures, mantissa %i', (px, nSigFigs, mantissa, expected) => {
    expect(rounded(px, nSigFigs, mantissa)).toEqual(expected)
  })

  it('adds sizes exactly and counts orders', () => {
    const { levels } = aggregateBook([[level('12.9', '0.1', 2), level('12.1', '0.2', 3)], []], {
      nSigFigs: 2,
      mantissa: 1,
      limit: 20,
    })
    expect(levels).toEqual([[{ px: '12.0', sz: '0.3', n: 5 }], []])
  })

  it('returns at most `limit` merged levels, and says whether the last level is complete', () => {
    const bids = ['39', '35', '29', '28', '19'].map((px) => level(px))
    const tens = (limit: number) =>
      aggregateBook([bids.map(({ px }) => level(`${px}0`)), []], { nSigFigs: 2, mantissa: 1, limit })
    expect(tens(5).complete).toEqual([false, false])
    expect(pxs(tens(4).levels[0])).toEqual(['390.0', '350.0', '290.0', '280.0'])
    expect(tens(4).complete[0]).toBe(true)
  })

  it('keeps order and total size, and never rounds bids up or asks down', () => {
    const price = fc.bigInt({ min: 1n, max: 10n ** 24n }).map(fromScaled)
    const decimals = (most: bigint, unit: bigint) => fc.bigInt({ min: 1n, max: most }).map((n) => fromScaled(n * unit))
    const size = fc.oneof(decimals(10n ** 28n, 1n), decimals(10n ** 16n, 10n ** 10n), decimals(10n ** 8n, 10n ** 18n))
    const side = fc.uniqueArray(fc.tuple(price, size), {
      selector: ([px]) => px,
      maxLength: 60,
    })
    fc.assert(
      fc.property(side, fc.integer({ min: 2, max: 5 }), fc.constantFrom(1, 2, 5), (entries, nSigFigs, mantissa) => {
        const asks = entries.map(([px, sz]) => level(px, sz)).sort((a, b) => compareDecimals(a.px, b.px))
        const book: Levels = [[...asks].reverse(), asks]
        const merged = aggregateBook(book, { nSigFigs, mantissa, limit: 1_000 })
        for (const index of [0, 1] as const) {
          const total = (levels: readonly Level[]) => levels.reduce((sum, { sz }) => sum + toScaled(sz), 0n)
          expect(total(merged.levels[index])).toBe(total(book[index]))
          const prices = pxs(merged.levels[index])
          const sign = index === 0 ? -1 : 1
          expect(prices.every((px, i) => i === 0 || sign * compareDecimals(px, prices[i - 1]!) > 0)).toBe(true)
          const best = asks.length > 0 ? compareDecimals(prices[0]!, book[index][0]!.px) : 0
          expect(sign * best).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})

it('spreadOf is the distance between the best prices', () => {
  expect(spreadOf([[level('1.1')], [level('1.25')]])).toBe('0.15')
  expect(spreadOf([[], [level('1')]])).toBeUndefined()
})

describe('a cached rounded book', () => {
  const hows = fc.constantFrom({ nSigFigs: 2, mantissa: 1 }, { nSigFigs: 3, mantissa: 1 }, { nSigFigs: 5, mantissa: 5 })
  // Around a power of ten, where the step changes; a price that floats cannot distinguish from a rounded one.
  const px = fc.oneof(
    fc.integer({ min: 700, max: 1_500 }).map((n) => `${n}.0`),
    fc.integer({ min: 1, max: 400_000 }).map((n) => fromScaled(BigInt(n) * 10n ** 15n)),
    fc.constantFrom('1000.000000000000000001', '999.999999999999999999', '990.000000000000000001'),
  )
  const sz = fc.integer({ min: 1, max: 9_000 }).map((n) => fromScaled(BigInt(n) * 10n ** 14n))
  const change = fc.record({ side: fc.constantFrom(0, 1), px, sz, n: fc.constantFrom(0, 0, 1, 2, 7).map(Number) })
  const step = fc.record({
    changes: fc.array(change, { maxLength: 60 }),
    /** Removes this many of the best levels of a side. */
    swept: fc.tuple(fc.constantFrom(0, 1), fc.nat(60)),
    limit: fc.constantFrom(5, 20, 33),
    isRead: fc.boolean(),
  })

  it('always equals reading the whole book', () => {
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 200, maxLength: 400 }),
        fc.array(step, { maxLength: 30 }),
        hows,
        (seed, steps, how) => {
          const book = new LevelBook()
          const apply = (changes: typeof seed) => {
            const on = (side: number) => changes.filter((one) => one.side === side)
            book.apply([
              on(0).map((one) => level(one.px, one.sz, one.n)),
              on(1).map((one) => level(one.px, one.sz, one.n)),
            ])
          }
          apply(seed.map((one) => ({ ...one, n: one.n + 1 })))
          for (const { changes, swept, limit, isRead } of steps) {
            const [side, count] = swept
            apply(changes)
            apply(book.levels(count)[side]!.map(({ px }) => ({ side, px, sz: '0', n: 0 })))
            const anew = aggregateBook([book.best(0), book.best(1)], { ...how, limit }).levels
            if (isRead) expect(roundedLevels(book, { ...how, limit })).toEqual(anew)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('does not confuse prices that floats cannot tell apart', () => {
    const asks = Array.from({ length: 32 }, (_, i) => level(`${969 + i}.0`))
    const book = LevelBook.of([[], [...asks, level('1000.05')]])
    const how = { nSigFigs: 5, mantissa: 1 }
    roundedLevels(book, { ...how, limit: 20 })
    book.apply([[], [level('1000.000000000000000001')]])
    expect(roundedLevels(book, { ...how, limit: 33 })[1].at(-1)).toEqual({ px: '1000.1', sz: '2.0', n: 2 })
  })

  it.each([
    ['all that is kept goes, and what lies beyond changes', 300, 20, (px: number) => px > 230 && px < 301],
    ['more comes than is kept', 130, 40, (px: number) => px > 200 && px < 241],
  ])('%s', (_, best, limit, isChanged) => {
    const bids = Array.from({ length: best - 100 }, (_, i) => level(`${best - i}.0`))
    const book = LevelBook.of([bids, []])
    const how = { nSigFigs: 3, mantissa: 1, limit }
    roundedLevels(book, { ...how, limit: 20 })
    const pxs = Array.from({ length: 300 }, (_, px) => px + 1).filter(isChanged)
    book.apply([pxs.map((px) => level(`${px}.0`, '3', best === 300 && px > 268 ? 0 : 3)), []])
    expect(roundedLevels(book, how)).toEqual(aggregateBook([book.best(0), book.best(1)], how).levels)
  })

  it('reads the book again only when its levels run out', () => {
    const bids = Array.from({ length: 100 }, (_, i) => level(`${990 - i}.0`))
    const book = LevelBook.of([bids, []])
    let reads = 0
    const rounded = new RoundedBook({ nSigFigs: 3, mantissa: 1 })
    const read = () => {
      reads++
      return [book.best(0), book.best(1)] as const
    }
    const shown = () => rounded.levels(20, read)
    shown()
    for (let at = 0; at < 500; at++) {
      const before = bids[at % 15]!
      const after = level(bids[at % 15]!.px, '1', 2 + at)
      bids[at % 15] = after
      rounded.onChange(0, before, after)
      shown()
    }
    expect(reads).toBe(1)
    for (const gone of bids.slice(0, 13)) rounded.onChange(0, gone, null)
    book.apply([bids.slice(0, 13).map(({ px }) => level(px, '0', 0)), []])
    expect([shown()[0][0]!.px, reads]).toEqual(['977.0', 2])
  })

  it('is dropped when unused, and built again on demand', () => {
    const book = LevelBook.of([[level('99.0')], []])
    const how = { nSigFigs: 2, mantissa: 1, limit: 20 }
    roundedLevels(book, how)
    for (let n = 1; n < 3_000; n++) book.apply([[level('99.0', '1', n), level(`${n % 90}.5`, '1', n % 3)], []])
    expect(roundedLevels(book, how)).toEqual(aggregateBook([book.best(0), book.best(1)], how).levels)
  })
})
