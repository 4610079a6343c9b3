// The text of `GET /metrics`.

import { expect, it } from 'vitest'
import { metricsText } from '../../src/monitor/exposition.ts'
import type { Scrape } from '../../src/monitor/monitor-api.ts'
import type { SourcesStatus } from '../../src/protocol/feed/sources-shape.ts'
import type { LogStatus } from '../../src/protocol/feed/status-shape.ts'
import { METRIC_NAMES } from './metric-names.ts'

const STATUS = {
  state: 'late',
  height: 120,
  durable: 118,
  time: 7_000,
  blockMs: 8_000,
  feeders: [
    { name: 'tokyo "a"\\\n', connected: true, lagMs: 250 },
    { name: 'gone', connected: false, lagMs: 9 },
  ],
  readers: [
    { name: 'x/0', height: 120 },
    { name: 'x/1', height: 110 },
    { name: 'x/apac/0', height: 119 },
    { name: 'x/l4/BTC', height: null },
  ],
  regions: [{ region: 'apac', relays: 1, sockets: 7, subscriptions: 30, p50Ms: 90, p99Ms: 400 }],
  archive: { lagMs: 61_000, files: null },
  gaps: [],
  disagreements: 0,
} as unknown as LogStatus
const SOURCES = { sources: [{ name: 'node', state: 'resting', lagMs: null }] } as unknown as SourcesStatus
const SCRAPE: Scrape = {
  v: 1,
  nowMs: 10_000,
  status: STATUS,
  gauges: [['usage_copy_late_seconds', 12]],
  sums: [
    ['requests|info|200', 3],
    ['duration|info|0', 2],
    ['duration|info|12', 1],
    ['duration_ms|info', 12_345],
    ['credits_leased', 2_500_000],
  ],
}
const linesOf = (scrape = SCRAPE) => metricsText(scrape, SOURCES).split('\n')

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
      'weir_up 1',
      'weir_feed_state{state="live"} 0',
      'weir_feed_state{state="late"} 1',
      'weir_head_age_seconds 3',
      'weir_feeders_connected 1',
      'weir_feeder_lag_seconds{feeder="tokyo \\"a\\"\\\\\\n"} 0.25',
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
