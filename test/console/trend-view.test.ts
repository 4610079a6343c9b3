// The charts of the operators' overview.

import { describe, expect, it } from 'vitest'
import { stepsOf, type Trend, trendCharts, trendRows } from '../../src/console/operator/trend-view.ts'

const HOUR = 3_600_000
const NAMES = { kept: 'Paid', refunded: 'Refunded', other: 'Other', labelOf: (name: string) => name }
const FROM = Date.UTC(2026, 10, 28, 15)
const trend = (more: Partial<Trend> = {}): Trend => ({
  step: 'hour',
  from: FROM,
  to: FROM + 2 * HOUR,
  paid: [],
  used: [],
  rejected: [],
  ...more,
})

describe('steps', () => {
  it('are every hour, day or month from the first to the one in progress', () => {
    expect(stepsOf(trend())).toEqual([FROM, FROM + HOUR, FROM + 2 * HOUR])
    const months = { step: 'month', from: Date.UTC(2025, 11), to: Date.UTC(2026, 1) } as const
    expect(stepsOf(months)).toEqual([Date.UTC(2025, 11), Date.UTC(2026, 0), Date.UTC(2026, 1)])
  })
})

describe('charts', () => {
  it('split payments into what was kept and refunded, by currency, without rounding', () => {
    const paid = [
      { start: FROM, currency: 'eur', orders: 2, amount: '0.30', refunded: '0.10' },
      { start: FROM + HOUR, currency: 'usdc', orders: 1, amount: '0.000001', refunded: '0.000000' },
    ]
    const { revenue } = trendCharts(trend({ paid }), NAMES)
    expect(revenue.map(({ currency, decimals, total }) => [currency, decimals, total])).toEqual([
      ['eur', 2, 300_000],
      ['usdc', 6, 1],
    ])
    expect(revenue[0]?.columns.map(({ parts }) => parts)).toEqual([{ Paid: 200_000, Refunded: 100_000 }, {}, {}])
  })

  it('count calls without minutes and rows, and credits with them', () => {
    const used = ['info', 'stream', 'pipeline'].map((product) => ({ start: FROM, product, credits: '1.5', count: 4 }))
    const { calls, credits } = trendCharts(trend({ used }), NAMES)
    expect([calls.parts, calls.total, credits.total]).toEqual([['info'], 4, 4_500_000])
  })

  it('have at most eight parts, the largest first', () => {
    const rejected = Array.from({ length: 12 }, (_, i) => ({ start: FROM, code: `code ${i}`, count: i + 1 }))
    const chart = trendCharts(trend({ rejected }), NAMES).rejected
    expect(chart.parts).toHaveLength(8)
    expect([chart.parts[0], chart.parts.at(-1)]).toEqual(['code 11', 'Other'])
    expect(chart.columns[0]?.parts.Other).toBe(1 + 2 + 3 + 4 + 5)
  })
})

it('rows of the table are the steps, newest first, with their sums', () => {
  const used = [
    { start: FROM, product: 'info', credits: '1', count: 2 },
    { start: FROM, product: 'stream', credits: '0.5', count: 3 },
  ]
  const rows = trendRows(trend({ used, rejected: [{ start: FROM, code: 'forbidden', count: 5 }] }))
  expect(rows.map(({ start }) => start)).toEqual([FROM + 2 * HOUR, FROM + HOUR, FROM])
  expect(rows.at(-1)).toMatchObject({ credits: 1_500_000, calls: 2, minutes: 3, rows: 0, rejected: 5 })
})
