import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCredits, parseCredits, wholeMicro } from '../../src/core/amount.ts'
import { PLANS } from '../../src/metering/plans/plan.ts'

describe('amounts', () => {
  it.each([
    ['0.13', 130_000],
    [0.13, 130_000],
    ['1', 1_000_000],
    [25_000, 25_000_000_000],
    [1e-6, 1],
    ['1000000000', 1e15],
    ['1000000000.000000', 1e15],
  ])('reads %s', (text, micro) => expect(parseCredits(text)).toEqual({ ok: true, value: micro }))

  it.each([
    ...['-1', '0.1234567', '', ' 1', '1e3', '0x10', '1.', '1000000000.000001'],
    ...[-0.5, 1e-7, Number.NaN, Number.POSITIVE_INFINITY, 1e21],
  ])('refuses %s', (text) => expect(parseCredits(text).ok).toBe(false))

  it('rejects everything but whole amounts in the ledger', () => {
    expect([0, 1, 1e15].map(wholeMicro)).toEqual([0, 1, 1e15])
    for (const amount of [-1, 0.5, Number.NaN, 2 ** 53])
      expect(() => wholeMicro(amount)).toThrow('non-negative integer')
  })

  it('survives formatting and parsing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 }), (micro) => {
        expect(parseCredits(formatCredits(micro))).toEqual({ ok: true, value: micro })
      }),
    )
    expect([0, 1, 130_000, 1_000_000, 2_500_000].map(formatCredits)).toEqual(['0', '0.000001', '0.13', '1', '2.5'])
  })
})

describe('plans', () => {
  it('represents the plans of the specification', () => {
    const { trial, entry, professional, enterprise } = PLANS
    expect(trial.terms).toEqual({ micro: 25_000e6, period: 'once', days: 14 })
    expect(entry.terms).toEqual({ micro: 10_000e6, period: 'month', days: null })
    expect(professional.terms).toEqual({ micro: 300_000e6, period: 'month', days: null })
    expect([trial, entry, professional].map(({ limits }) => limits.requestsPerSecond)).toEqual([4, 4, 50])
    expect(enterprise.custom).toBe(true)
  })
})
