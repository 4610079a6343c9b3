import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDecimals, fromScaled, isZero, toScaled, trimDecimal } from '../../src/core/decimal.ts'

const decimal = fc
  .tuple(fc.boolean(), fc.bigInt(0n, 10n ** 20n), fc.option(fc.stringMatching(/^\d{1,18}$/), { nil: undefined }))
  .map(([negative, whole, fraction]) => `${negative ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`)

describe('decimals', () => {
  it('keep their value through scaling, for any string of up to 18 decimals', () => {
    fc.assert(
      fc.property(decimal, (text) => {
        expect(toScaled(fromScaled(toScaled(text)))).toBe(toScaled(text))
        expect(trimDecimal(text)).toBe(fromScaled(toScaled(text)))
      }),
    )
  })

  it('sort exactly, even if two prices equal the same float', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const exact = toScaled(a) - toScaled(b)
        expect(Math.sign(compareDecimals(a, b))).toBe(exact < 0n ? -1 : exact > 0n ? 1 : 0)
      }),
    )
    expect(
      compareDecimals('100000000000000000000.000000000000000001', '100000000000000000000.000000000000000002'),
    ).toBeLessThan(0)
  })

  it('are written with trailing zeros trimmed to one decimal', () => {
    const written = '81308 81308.00 0.0304800 -3 0 0.000 -0.0 007.5 0.5'.split(' ').map(trimDecimal)
    expect(written.join(' ')).toBe('81308.0 81308.0 0.03048 -3.0 0.0 0.0 0.0 7.5 0.5')
    expect(isZero('0.000')).toBe(true)
    expect(isZero('0.000000000000000001')).toBe(false)
  })
})
