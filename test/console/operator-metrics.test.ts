// Texts and lines of the operators' metrics page.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  byValue,
  foundMetrics,
  inGroups,
  type Metric,
  metricText,
  withFigures,
} from '../../src/console/operator/metric-view.ts'
import { increases, sparkPath } from '../../src/console/operator/sparkline.ts'

const metric = (name: string, figure: number | null = null, help = ''): Metric => {
  return { name, type: 'gauge', help, unit: null, figure, values: [] }
}

it.each([
  [0, 'seconds', '0 s'],
  [0.25, 'seconds', '250 ms'],
  [12.345, 'seconds', '12.3 s'],
  [600, 'seconds', '10 min'],
  [86_400, 'seconds', '24 h'],
  [1234.5, 'credits', '1,234.5 credits'],
  [1, 'credits', '1 credit'],
  [1_000_000, null, '1,000,000'],
] as const)('%d in %s is %s', (value, unit, text) => {
  expect(metricText(value, unit)).toBe(text)
})

it('a search finds all words in the name or the help text', () => {
  const all = [metric('weir_head_height', 1, 'Height of the last block.'), metric('weir_gaps', 1, 'Missing heights.')]
  expect(foundMetrics(all, ' HEAD block ').map(({ name }) => name)).toEqual(['weir_head_height'])
  expect(foundMetrics(all, 'height')).toHaveLength(2)
  expect(foundMetrics(all, '')).toHaveLength(2)
  expect(foundMetrics(all, 'constructor')).toEqual([])
})

it('metrics with a figure or labeled values come before those without', () => {
  const labeled = { ...metric('b'), values: [{ labels: { state: 'live' }, value: 1 }] }
  const [valued, empty] = byValue([metric('a', 0), labeled, metric('c')])
  expect([valued, empty].map((each) => each.map(({ name }) => name))).toEqual([['a', 'b'], ['c']])
})

it('each metric is in one group, by the start of its name', () => {
  const names = ['weir_up', 'weir_feeder_lag_seconds', 'weir_requests_total', 'weir_head_height']
  const groups = inGroups(names.map((name) => metric(name))).map(({ metrics }) => metrics.map(({ name }) => name))
  expect(groups).toEqual([['weir_requests_total'], ['weir_feeder_lag_seconds', 'weir_head_height'], ['weir_up']])
})

it('the session keeps the last 360 figures, and a new metric starts late', () => {
  let session = withFigures({}, [metric('a', 1)])
  session = withFigures(session, [metric('a', 2), metric('b', 5)])
  expect(session).toEqual({ a: [1, 2], b: [null, 5] })
  for (let i = 0; i < 400; i++) session = withFigures(session, [metric('a', i)])
  expect([session.a?.length, session.a?.at(-1), session.b]).toEqual([360, 399, undefined])
})

describe('a line', () => {
  it('has the increases of a sum, without those over a restart', () => {
    expect(increases([1, 4, null, 6, 2, 3])).toEqual([3, null, null, null, 1])
    expect(increases([7])).toEqual([])
  })

  it('invariant: stays in its box, whatever the values', () => {
    const value = fc.option(fc.double({ min: -1e12, max: 1e12, noNaN: true }))
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const numbers = sparkPath(values, 200, 36).match(/-?[\d.]+/g) ?? []
        numbers.forEach((text, i) => {
          expect(Number(text)).toBeGreaterThanOrEqual(0)
          expect(Number(text)).toBeLessThanOrEqual(i % 2 === 0 ? 200 : 36)
        })
      }),
    )
  })

  it('leaves gaps, and needs two values in a row', () => {
    expect(sparkPath([0, 1, null, 1, null, 0, 1], 60, 10)).toBe('M0 10L10 0M50 10L60 0')
    expect(sparkPath([5], 60, 10)).toBe('')
    expect(sparkPath([2, 4], 60, 10, true)).toBe('M0 5L60 0')
    expect(sparkPath([0, 0], 60, 10, true)).toBe('M0 10L60 10')
  })
})
