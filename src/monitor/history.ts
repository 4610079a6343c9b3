// The public history of availability: `GET /status/history.json`, and the bundle of hourly rows from which anybody can
// compute the same figures. Invariants (test/monitor/history.test.ts): the figures are sums of the rows of the bundle and
// of `hour`; an uptime is never rounded up; a day without checks is neither up nor down.

import * as z from 'zod'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts'
import type { Frozen } from '../protocol/feed/sources-shape.ts'
import {
  COMPONENTS,
  type Component,
  currentRows,
  type HourRow,
  percentileMs,
  type StoredAvailability,
  sumOf,
  type Tally,
} from './availability.ts'
import { IncidentShape } from './incidents.ts'

export const HISTORY_DAYS = 90
/** Without a check for this long, the state of a component is unknown. */
const STATE_MAX_AGE_MS = 10 * MINUTE_MS

const Count = z.int().min(0)
const P50 = z.int().nullable().describe('Upper bound of the median time in ms; null: no times')
const P99 = z.int().nullable().describe('Upper bound of the 99th percentile in ms; null: no times')
const Checks = Count.describe('Number of checks; 0: no data')
const Failed = Count.describe('Number of failed checks')

const ComponentShape = z
  .object({
    name: z.enum(COMPONENTS).describe('Component'),
    state: z
      .enum(['up', 'down', 'unknown'])
      .describe('Result of the last check; `unknown`: none in the last ten minutes'),
    uptimePercent: z
      .number()
      .nullable()
      .describe('Share of successful checks in these days, in percent, rounded down to three decimals'),
    checks: Checks,
    failed: Failed,
    p50Ms: P50,
    p99Ms: P99,
    days: z
      .array(z.object({ date: z.string().describe('UTC day'), checks: Checks, failed: Failed, p50Ms: P50, p99Ms: P99 }))
      .describe(`The last ${HISTORY_DAYS} UTC days, oldest first`),
  })
  .meta({ id: 'ComponentHistory' })

const HourShape = z
  .object({
    hour: z.string().describe('Start of the hour, ISO 8601'),
    component: z.enum(COMPONENTS).describe('Component'),
    checks: Checks,
    failed: Failed,
    times: z.record(z.string(), Count).describe('Numbers of times, by their upper bound in ms'),
  })
  .meta({ id: 'ComponentHour' })

const BundleShape = z
  .object({
    path: z.string().describe('Path of the file, which never changes'),
    sha256: z.string().describe('SHA-256 of the file, in hex'),
    rows: Count.describe('Number of lines'),
  })
  .nullable()
  .describe(
    'All hours of these days except the one in progress, as NDJSON: one component and hour per line; null: nothing was checked yet',
  )

const AvailabilityShape = z.object({
  components: z.array(ComponentShape).describe('Components with data'),
  hour: z.array(HourShape).describe('The hour in progress'),
  bundle: BundleShape,
})
export type AvailabilityHistory = Frozen<z.infer<typeof AvailabilityShape>>
export type ComponentHistory = AvailabilityHistory['components'][number]

/** Response of `GET /status/history.json`. */
export const HistoryShape = AvailabilityShape.extend({
  incidents: z
    .array(IncidentShape)
    .describe('Incidents and maintenance that are open, planned or at most 90 days old, newest first, at most 50'),
})
export type StatusHistory = Frozen<z.infer<typeof HistoryShape>>

const dayOf = (unixMs: number) => new Date(unixMs).toISOString().slice(0, 10)
const startOfDay = (unixMs: number) => Math.floor(unixMs / DAY_MS) * DAY_MS

/** First hour of the bundle that ends before `untilMs`. */
export const firstHourOf = (untilMs: number) => startOfDay(untilMs) - (HISTORY_DAYS - 1) * DAY_MS

/** Bundles that end this long ago can still be read. */
export const BUNDLE_KEPT_MS = 2 * HOUR_MS

/** Hours before this one are removed, with a margin for the links to bundles. */
export const oldestHour = (nowMs: number) => firstHourOf(nowMs) - DAY_MS

/** Whether a bundle can end there. `currentHour`: the hour in progress, which no bundle contains. */
export const isBundleEnd = (untilMs: number, currentHour: number) =>
  untilMs % HOUR_MS === 0 && untilMs <= currentHour && untilMs >= currentHour - BUNDLE_KEPT_MS

export const bundlePath = (untilMs: number) => `/status/history.ndjson?until=${untilMs}`

const hourShown = ({ hour, component, checks, failed, times }: HourRow) => {
  return { hour: new Date(hour).toISOString(), component, checks, failed, times }
}

/** Text of the bundle. `rows`: sorted by hour and component. */
export const bundleText = (rows: readonly HourRow[]) =>
  rows.map((row) => `${JSON.stringify(hourShown(row))}\n`).join('')

/** Components of `GET /status/history.json`. `rows`: all finished hours since `firstHourOf(nowMs)`. */
export function componentsOf(
  rows: readonly HourRow[],
  stored: StoredAvailability,
  nowMs: number,
): Pick<AvailabilityHistory, 'components' | 'hour'> {
  const current = currentRows(stored).filter(({ hour }) => hour >= firstHourOf(nowMs))
  const byDay = new Map<string, Tally[]>()
  for (const row of [...rows, ...current]) {
    const key = `${row.component} ${dayOf(row.hour)}`
    const tallies = byDay.get(key)
    if (tallies === undefined) byDay.set(key, [row])
    else tallies.push(row)
  }
  const components = COMPONENTS.flatMap((name) => {
    const days = Array.from({ length: HISTORY_DAYS }, (_, day) => {
      const date = dayOf(firstHourOf(nowMs) + day * DAY_MS)
      return { date, tally: sumOf(byDay.get(`${name} ${date}`) ?? []) }
    })
    const all = sumOf(days.map(({ tally }) => tally))
    if (all.checks === 0) return []
    const shownDays = days.map(({ date, tally }) => ({ date, ...figuresOf(tally) }))
    return [
      {
        name,
        state: stateOf(stored, name, nowMs),
        uptimePercent: uptimePercent(all),
        ...figuresOf(all),
        days: shownDays,
      },
    ]
  })
  return { components, hour: current.map(hourShown) }
}

const figuresOf = ({ checks, failed, times }: Tally) => ({
  checks,
  failed,
  p50Ms: percentileMs(times, 0.5),
  p99Ms: percentileMs(times, 0.99),
})

/** Null without checks. */
export function uptimePercent({ checks, failed }: Pick<Tally, 'checks' | 'failed'>): number | null {
  return checks === 0 ? null : Math.floor(((checks - failed) * 100_000) / checks) / 1_000
}

function stateOf({ last }: StoredAvailability, component: Component, nowMs: number): ComponentHistory['state'] {
  const check = last[component]
  if (check === undefined || nowMs - check.atMs > STATE_MAX_AGE_MS) return 'unknown'
  return check.isFailed ? 'down' : 'up'
}
