import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { axisSteps, dayMarks, nearestPoint } from '../../src/console/ui/chart-scale.ts'
import {
  compactText,
  creditsText,
  dayText,
  durationText,
  groupedText,
  plainText,
  relativeText,
  sizeText,
  timeText,
} from '../../src/console/ui/format.ts'
import { samplesOf } from '../../src/console/ui/key-samples.ts'
import { fromFirstUse, stackedBars } from '../../src/console/ui/stacked-bars.ts'
import { labelOf } from '../../src/console/ui/strings.ts'
import { csvText } from '../../src/core/csv.ts'

it.each([
  ['rest_requests_per_second', 'REST requests per second'],
  ['x402', 'x402'],
  ['ok', 'OK'],
])('%s is labeled %s', (name, label) => {
  expect(labelOf(name)).toBe(label)
})

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

  it('leave the room above them that the axis needs', () => {
    expect(stackedBars([{ name: 'a', parts: { x: 3 } }], ['x'], 100, 4)).toEqual([
      { column: 0, part: 'x', y: 25, height: 75 },
    ])
  })
})

describe('columns of a new account', () => {
  it.each([
    ['30 empty days', Array(30).fill(0), 30],
    ['use on the last of 30 days', [...Array(29).fill(0), 1], 7],
    ['use in the last 10 of 30 days', [...Array(20).fill(0), 1, ...Array(9).fill(0)], 10],
    ['use on 3 days', [0, 0, 1], 3],
  ] as const)('with %s begin with its first use, or fill the narrowest chart', (_, values, count) => {
    const columns = values.map((x, i) => ({ name: String(i), parts: { x } }))
    expect(fromFirstUse(columns, ['x'])).toEqual(columns.slice(columns.length - count))
  })
})

describe('axes', () => {
  it('have a few round steps from zero to the largest value', () => {
    expect(axisSteps(0)).toEqual([0, 1])
    expect(axisSteps(3)).toEqual([0, 1, 2, 3])
    expect(axisSteps(1_000)).toEqual([0, 250, 500, 750, 1_000])
    expect(axisSteps(1_001)).toEqual([0, 500, 1_000, 1_500])
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8e15 }), (max) => {
        const steps = axisSteps(max)
        expect(steps.length).toBeLessThanOrEqual(5)
        expect(steps.at(-1)).toBeGreaterThanOrEqual(max)
        expect(steps.at(-2)).toBeLessThan(Math.max(max, 1))
      }),
    )
  })

  it('mark days within their range', () => {
    const from = Date.UTC(2026, 10, 1)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000 * 86_400_000 }), (ms) => {
        const marks = dayMarks(from, from + ms, 6)
        expect(marks[0]).toBe(from)
        expect(marks.length).toBeLessThanOrEqual(6)
        expect(marks.at(-1)).toBeLessThanOrEqual(from + ms)
      }),
    )
    expect(dayMarks(from, from + 30 * 86_400_000, 6).map((ms) => new Date(ms).getUTCDate())).toEqual([1, 8, 15, 22, 29])
  })

  it('find the nearest point', () => {
    const points = [{ at: 0 }, { at: 0.5 }, { at: 1 }]
    expect([-1, 0.24, 0.26, 0.9].map((at) => nearestPoint(points, at))).toEqual([0, 0, 1, 2])
    expect(nearestPoint([], 0.5)).toBe(-1)
  })

  it('have short numbers', () => {
    expect([0, 250, 1_500, 2_000_000].map(compactText)).toEqual(['0', '250', '1.5K', '2M'])
  })
})

describe('samples of a key', () => {
  it('have its text and the address, once for each language', () => {
    const samples = samplesOf('cqt_key', 'https://api.example.com')
    expect(Object.keys(samples)).toEqual(['curl', 'TypeScript', 'Python', 'MCP'])
    for (const text of Object.values(samples)) {
      expect(text.split('cqt_key')).toHaveLength(2)
      expect(text).toContain('https://api.example.com/')
    }
    // A service key has no market data.
    expect(Object.values(samplesOf('cqs_key', 'https://a.example')).join()).not.toMatch(/\/info|\/mcp/)
  })
})

describe('sizes', () => {
  it('have one unit', () => {
    expect([0, 999, 1_500, 611_670, 2_340_000_000].map(sizeText)).toEqual([
      '0 B',
      '999 B',
      '1.5 KB',
      '611 KB',
      '2.3 GB',
    ])
  })
})

describe('times', () => {
  it('are UTC', () => {
    expect(timeText(1790000000000)).toBe('2026-09-21 14:13:20')
    expect(dayText(1790000000000)).toBe('2026-09-21')
  })

  it('are relative to now for a week', () => {
    const now = Date.UTC(2026, 10, 25, 12)
    expect([-8_000, -7_200_000, 86_400_000, -9 * 86_400_000].map((ms) => relativeText(now + ms, now))).toEqual([
      '8 s ago',
      '2 h ago',
      'in 1 d',
      '16 Nov 2026',
    ])
  })

  it('show a duration in one unit', () => {
    expect([0, 999, 59_000, 3_600_000, 200_000_000].map(durationText)).toEqual(['0 s', '0 s', '59 s', '1 h', '2 d'])
  })
})

it('favicon.ico is drawn from icon.svg, which its text names', () => {
  const read = (name: string) => readFileSync(new URL(`../../src/console/public/${name}`, import.meta.url))
  const sha256 = createHash('sha256').update(read('icon.svg')).digest('hex')
  expect(read('favicon.ico').toString('latin1')).toContain(`Source\0icon.svg sha256:${sha256}`)
})
