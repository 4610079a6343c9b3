// RPC interface of the Monitor. Types only.

import type { CounterSink, SeriesValue } from '../core/counters.ts'
import type { Delivery } from '../metering/webhooks/webhook-api.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import type { Alert, AlertHistoryEntry, AlertReading } from './alerts.ts'
import type { AvailabilityHistory } from './history.ts'

export interface Scrape {
  readonly v: number
  readonly nowMs: number
  readonly sums: readonly SeriesValue[]
  readonly gauges: readonly SeriesValue[]
  /** Null if the log did not answer. */
  readonly status: LogStatus | null
}

/** Figures at a time, by the name of the family in reports. */
export interface FiguresAt {
  /** Unix ms. */
  readonly at: number
  readonly figures: Readonly<Record<string, number>>
}

export interface AlertReport {
  readonly v: number
  /** Host of ALERT_URL; null: no receiver. */
  readonly receiver: string | null
  /** Whether ALERT_SECRET is set, without which nothing is sent. */
  readonly isSigned: boolean
  /** Time of the values. */
  readonly nowMs: number
  /** `sinceMs`: when it began; null: it is not active. */
  readonly alerts: readonly (Pick<AlertReading, 'value' | 'threshold'> & {
    readonly alert: Alert
    readonly sinceMs: number | null
    readonly fault: string | null
  })[]
  /** Newest first. */
  readonly history: readonly AlertHistoryEntry[]
}

export type AlertTest = Delivery | 'no_receiver' | 'no_secret'

export interface MonitorApi extends CounterSink {
  /** Everything that `/metrics` shows. The status of the log is at most a second old. */
  scrape(): Promise<Scrape>
  /** The availability of the last 90 days, at most a minute old. */
  history(): Promise<AvailabilityHistory>
  /** Text of a bundle, which never changes; null: no bundle ends at this time. */
  bundle(untilMs: number): Promise<string | null>
  /** Figures of the metrics of the last day, oldest first. */
  figures(): Promise<readonly FiguresAt[]>
  alerts(): Promise<AlertReport>
  /** Sends a test message to the receiver of alerts. */
  testAlert(): Promise<AlertTest>
}
