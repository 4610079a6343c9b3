// The text of `GET /metrics`.

import { expect, it } from 'vitest'
import { LOG_LEVELS } from '../../src/core/log-line.ts'
import { formatFor, metricsText } from '../../src/monitor/exposition.ts'
import { metricFamilies } from '../../src/monitor/metric-families.ts'
import { METRIC_NAMES } from './metric-names.ts'
import { SCRAPE, SOURCES } from './scrape.ts'

const OPEN_METRICS = formatFor('application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5')
const linesOf = (scrape = SCRAPE) => metricsText(metricFamilies(scrape, SOURCES), OPEN_METRICS).split('\n')

it('shows counters, histograms and the state of the feed', () => {
  expect(linesOf()).toEqual(
    expect.arrayContaining([
      '# TYPE weir_requests counter',
      'weir_requests_total{surface="info",status="200"} 3',
      'weir_credits_leased_total 2.5',
      'weir_credits_written_off_total 0',
      'weir_request_duration_seconds_bucket{surface="info",le="0.001"} 2',
      'weir_request_duration_seconds_bucket{surface="info",le="10"} 2',
      'weir_request_duration_seconds_bucket{surface="info",le="+Inf"} 3',
      'weir_request_duration_seconds_sum{surface="info"} 12.345',
      'weir_request_duration_seconds_count{surface="info"} 3',
      'weir_usage_copy_late_seconds 12',
      'weir_pipeline_lag_seconds{phase="live"} 0',
      'weir_pipeline_lag_seconds{phase="retrying"} 75.5',
      'weir_up 1',
      'weir_feed_state{state="live"} 0',
      'weir_feed_state{state="late"} 1',
      'weir_head_age_seconds 3',
      'weir_feeders_connected 1',
      'weir_feeder_lag_seconds{feeder="tokyo \\"a\\"\\\\\\\\u000a\\\\u0000"} 0.25',
      'weir_reader_lag_blocks{kind="hub"} 10',
      'weir_reader_lag_blocks{kind="relay"} 1',
      'weir_sockets{region="apac"} 7',
      'weir_subscriptions{region="apac"} 30',
      'weir_archive_lag_seconds 61',
      'weir_source_up{source="node"} 0',
    ]),
  )
})

it('shows no value of a log that does not answer', () => {
  const shown = linesOf({ ...SCRAPE, status: null }).filter((one) => !one.startsWith('#'))
  expect(shown).toContain('weir_up 0')
  expect(shown.filter((one) => /weir_(feed_state|head|sockets|archive)/.test(one))).toEqual([])
})

it('is valid: each family once with type and help, each series once, names as listed, and an end mark', () => {
  const lines = linesOf()
  expect(lines.slice(-2)).toEqual(['# EOF', ''])
  const samples = lines.filter((one) => one !== '' && !one.startsWith('#'))
  const series = samples.map((one) => one.slice(0, one.lastIndexOf(' ')))
  expect(new Set(series).size).toBe(series.length)
  const names = new Set(series.map((one) => one.replace(/\{.*/s, '')))
  expect([...names].filter((name) => !METRIC_NAMES.includes(name))).toEqual([])
  for (const one of samples) expect(one).toMatch(/^[a-z_0-9]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? -?\d+(\.\d+)?$/)
  const types = lines.filter((one) => one.startsWith('# TYPE'))
  const families = types.map((one) => one.split(' ')[2])
  expect(new Set(families).size).toBe(types.length)
  expect(lines.filter((one) => one.startsWith('# HELP')).map((one) => one.split(' ')[2])).toEqual(families)
})

it('shows errors that have not occurred yet as 0, so that a rate sees the first one', () => {
  const lines = linesOf()
  for (const [event, level] of Object.entries(LOG_LEVELS))
    expect(lines.includes(`weir_log_events_total{event="${event}"} 0`)).toBe(level !== 'info')
  expect(lines).toContain('weir_store_errors_total{binding="ACCOUNTS"} 2')
  expect(lines.filter((one) => one.startsWith('weir_store_errors_total{')).length).toBe(5)
})

it('names counters for clients without OpenMetrics like their samples', () => {
  const lines = metricsText(metricFamilies(SCRAPE, SOURCES), formatFor('*/*')).split('\n')
  expect(lines).toContain('# TYPE weir_requests_total counter')
  expect(lines).not.toContain('# EOF')
  const samples = (all: readonly string[]) => all.filter((one) => one !== '' && !one.startsWith('#'))
  expect(samples(lines)).toEqual(samples(linesOf()))
})
