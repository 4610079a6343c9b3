// Metrics as the page of operators shows them.

import { expect, it } from 'vitest'
import { metricFamilies } from '../../src/monitor/metric-families.ts'
import { figuresOf, reportedMetric } from '../../src/monitor/metric-report.ts'
import { SCRAPE, SOURCES } from './scrape.ts'

const FAMILIES = metricFamilies(SCRAPE, SOURCES)
const reports = new Map(FAMILIES.map(reportedMetric).map((one) => [one.name, one]))

it('the figure is the sum of a counter and the highest value of a gauge', () => {
  expect(reports.get('weir_requests_total')).toMatchObject({ figure: 3, unit: null, type: 'counter' })
  expect(reports.get('weir_credits_leased_total')).toMatchObject({ figure: 2.5, unit: 'credits' })
  expect(reports.get('weir_reader_lag_blocks')).toMatchObject({ figure: 10, unit: 'blocks' })
  expect(reports.get('weir_sockets')).toMatchObject({ figure: 7, values: [{ labels: { region: 'apac' }, value: 7 }] })
  expect(reports.get('weir_feed_state')).toMatchObject({ figure: null })
  expect(reports.get('weir_source_lag_seconds')).toMatchObject({ figure: null, values: [] })
})

it('durations have the number of requests and the bounds of their quantiles', () => {
  expect(reports.get('weir_request_duration_seconds')).toMatchObject({
    figure: 3,
    unit: 'seconds',
    values: [{ labels: { surface: 'info' }, value: 3, p50: 0.001, p99: null }],
  })
})

it('the history has the figures of the report, and every family is in the report', () => {
  const figures = figuresOf(FAMILIES)
  for (const { name, figure } of reports.values()) expect([name, figures[name] ?? null]).toEqual([name, figure])
  expect(reports.size).toBe(FAMILIES.length)
})
