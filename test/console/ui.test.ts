import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { creditsText, dayText, durationText, groupedText, plainText, timeText } from '../../src/console/ui/format.ts'
import { stackedBars } from '../../src/console/ui/stacked-bars.ts'
import { csvText } from '../../src/core/csv.ts'

describe('CSV', () => {
  it('quotes cells with separators, quotes and line breaks', () => {
    expect(csvText(['a', 'b'], [['x,y', 'say "hi"\n']])).toBe('a,b\r\n"x,y","say ""hi""\n"\r\n')
  })

  it('escapes labels that look like formulas, and leaves numbers alone', () => {
    expect(csvText(['l', 'n'], [['=HYPERLINK("http://x")', '-1.5']])).toBe(
      'l,n\r\n"\'=HYPERLINK(""http://x"")",-1.5\r\n',
    )
    expect(csvText(['l'], [['@sum'], ['+1+1'], ['-x']])).toBe("l\r\n'@sum\r\n'+1+1\r\n'-x\r\n")
  })
})

describe('amounts', () => {
  it('are exact', () => {
    expect(creditsText(1_234_567_890_123n)).toBe('1,234,567.890123')
    expect(creditsText(-130_000)).toBe('-0.13')
    expect(groupedText('100000.50')).toBe('100,000.50')
    expect(groupedText('no number')).toBe('no number')
    for (const text of ['0', '-1234.5', '999', '100000000.25', 'no number', '1 of 2', ''])
      expect(plainText(groupedText(text))).toBe(text)
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 18n), 10n ** 18n), (micro) => {
        const text = creditsText(micro).replaceAll(',', '')
        const [, sign, whole, rest = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text)!
        expect(BigInt(`${sign}${whole}${rest.padEnd(6, '0')}`)).toBe(micro)
      }),
    )
  })
})

describe('stacked bars', () => {
  it('fill the tallest column and never overlap', () => {
    const value = fc.integer({ min: 0, max: 1_000_000 })
    fc.assert(
      fc.property(fc.array(fc.record({ a: value, b: value, c: value }), { maxLength: 40 }), (rows) => {
        const columns = rows.map((parts, i) => ({ name: String(i), parts }))
        const bars = stackedBars(columns, ['a', 'b', 'c'], 100)
        for (const [i, row] of rows.entries()) {
          const own = bars.filter(({ column }) => column === i)
          let floor = 100
          for (const { y, height } of own) {
            expect(y + height).toBeCloseTo(floor)
            expect(y).toBeGreaterThanOrEqual(-1e-9)
            floor = y
          }
          if (row.a + row.b + row.c === 0) expect(own).toEqual([])
        }
        const tops = bars.map(({ y }) => y)
        if (bars.length > 0) expect(Math.min(...tops)).toBeCloseTo(0)
      }),
    )
  })
})

describe('times', () => {
  it('are UTC', () => {
    expect(timeText(1790000000000)).toBe('2026-09-21 14:13:20')
    expect(dayText(1790000000000)).toBe('2026-09-21')
  })

  it('show a duration in one unit', () => {
    expect([0, 999, 59_000, 3_600_000, 200_000_000].map(durationText)).toEqual(['0 s', '0 s', '59 s', '1 h', '2 d'])
  })
})
