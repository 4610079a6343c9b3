// RPC interface of the Monitor. Types only.

import type { CounterSink, SeriesValue } from '../core/counters.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'

export interface Scrape {
  readonly v: number
  readonly nowMs: number
  readonly sums: readonly SeriesValue[]
  readonly gauges: readonly SeriesValue[]
  /** Null if the log did not answer. */
  readonly status: LogStatus | null
}

export interface MonitorApi extends CounterSink {
  /** Everything that `/metrics` shows. The status of the log is at most a second old. */
  scrape(): Promise<Scrape>
}
