// A scrape with values of all kinds, for tests of the text of `GET /metrics`.

import type { Scrape } from '../../src/monitor/monitor-api.ts'
import type { SourcesStatus } from '../../src/protocol/feed/sources-shape.ts'
import type { LogStatus } from '../../src/protocol/feed/status-shape.ts'

const STATUS = {
  state: 'late',
  height: 120,
  durable: 118,
  time: 7_000,
  blockMs: 8_000,
  feeders: [
    { name: 'tokyo "a"\\\n\0', connected: true, lagMs: 250 },
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
export const SOURCES = { sources: [{ name: 'node', state: 'resting', lagMs: null }] } as unknown as SourcesStatus
export const SCRAPE: Scrape = {
  v: 1,
  nowMs: 10_000,
  status: STATUS,
  gauges: [
    ['usage_copy_late_seconds', 12],
    ['pipeline_lag_seconds|retrying', 75.5],
  ],
  sums: [
    ['requests|info|200', 3],
    ['duration|info|0', 2],
    ['duration|info|12', 1],
    ['duration_ms|info', 12_345],
    ['credits_leased', 2_500_000],
    ['store_errors|ACCOUNTS', 2],
  ],
}
