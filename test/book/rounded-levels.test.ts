import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aggregateBook, spreadOf } from '../../src/book/rounded-levels.ts'
import { compareDecimals, fromScaled, toScaled } from '../../src/core/decimal.ts'
import type { Level, Levels } from '../../src/feed/block.ts'

const level = (px: string, sz = '1', n = 1): Level => ({ px, sz, n })
const pxs = (levels: readonly Level[]) => levels.map(({ px }) => px)

/** Prices that one price on each side is rounded to. */
function rounded(px: string, nSigFigs: number, mantissa = 1): string[] {
  const { levels } = aggregateBook([[level(px)], [level(px)]], { nSigFigs, mantissa, limit: 20 })
  return [...pxs(levels[0]), ...pxs(levels[1])]
}

describe('aggregateBook', () => {
  it.each([
    ['81307', 5, 1, ['81307.0', '81307.0']],
    ['81307', 5, 2, ['81306.0', '81308.0']],
    ['81307', 5, 5, ['81305.0', '81310.0']],
    ['81307', 4, 1, ['81300.0', '81310.0']],
    ['81307', 2, 1, ['81000.0', '82000.0']],
    ['81000', 2, 1, ['81000.0', '81000.0']],
    ['99999.5', 5, 1, ['99999.0', '100000.0']],
    ['100001', 5, 1, ['100000.0', '100010.0']],
    ['0.069277', 3, 1, ['0.0692', '0.0693']],
    ['0.00001234', 2, 1, ['0.000012', '0.000013']],
    ['1', 5, 5, ['1.0', '1.0']],
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

  it('counts merged levels to its limit, and knows whether the last one is whole', () => {
    const bids = ['39', '35', '29', '28', '19'].map((px) => level(px))
    const tens = (limit: number) =>
      aggregateBook([bids.map(({ px }) => level(`${px}0`)), []], { nSigFigs: 2, mantissa: 1, limit })
    expect(tens(5).complete).toEqual([false, false])
    expect(pxs(tens(4).levels[0])).toEqual(['390.0', '350.0', '290.0', '280.0'])
    expect(tens(4).complete[0]).toBe(true)
  })

  it('keeps order and total size, bids never up and asks never down', () => {
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

it('spreadOf is the distance of the best prices', () => {
  expect(spreadOf([[level('1.1')], [level('1.25')]])).toBe('0.15')
  expect(spreadOf([[], [level('1')]])).toBeUndefined()
})
