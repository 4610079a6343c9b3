// Text and levels of the availability on the status page. Invariants (test/console/status.test.ts): an open incident is
// never called normal operation; a day without checks has no level.

import type { ComponentHistory, StatusHistory } from '../../monitor/history.ts'
import type { Incident } from '../../monitor/incidents.ts'
import { durationText } from '../ui/format.ts'
import { labelOf } from '../ui/strings.ts'
import { HISTORY } from './history-strings.ts'
import { COMPONENT_NAMES } from './strings.ts'

type Day = ComponentHistory['days'][number]

/** Not from core, so that pages without it load no further file. */
export const DAY_MS = 86_400_000
/** Below this share of successful checks, a day counts as an outage. */
const OUTAGE_BELOW = 0.99

export type DayLevel = 'none' | 'up' | 'partial' | 'outage'

export function levelOf({ checks, failed }: Pick<Day, 'checks' | 'failed'>): DayLevel {
  if (checks === 0) return 'none'
  if (failed === 0) return 'up'
  return (checks - failed) / checks >= OUTAGE_BELOW ? 'partial' : 'outage'
}

/** `99.987%`; the JSON is rounded down already. */
export const percentText = (percent: number | null) => (percent === null ? '–' : `${percent}%`)

/** Uptime of a day, never rounded up. */
const dayPercent = ({ checks, failed }: Day) => Math.floor(((checks - failed) * 10_000) / checks) / 100

/** `250 ms`, `2.5 s` or `5 min` */
export function spanText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 60_000 ? `${ms / 1_000} s` : durationText(ms)
}

/** Percentiles are bounds. */
export const timesText = (p50Ms: number | null, p99Ms: number | null) =>
  p50Ms === null || p99Ms === null ? '' : HISTORY.times(spanText(p50Ms), spanText(p99Ms))

/** Lines about a day: availability, checks, times. */
export function dayLines(day: Day): readonly string[] {
  if (day.checks === 0) return [HISTORY.noData]
  const checks = HISTORY.checks(day.checks.toLocaleString('en'), day.failed.toLocaleString('en'))
  return [HISTORY.dayUptime(percentText(dayPercent(day))), checks, timesText(day.p50Ms, day.p99Ms)].filter(Boolean)
}

/** Incidents about this component on this UTC day. An open one lasts until now. */
export function incidentsOn(incidents: readonly Incident[], component: ComponentHistory['name'], date: string) {
  const start = Date.parse(date)
  const end = start + DAY_MS
  return incidents.filter(({ components, created, starts, ends, closed, kind }) => {
    const fromMs = kind === 'maintenance' ? (starts ?? created) : created
    const untilMs = closed ?? (kind === 'maintenance' ? (ends ?? fromMs) : Number.POSITIVE_INFINITY)
    return components.includes(component) && fromMs < end && untilMs >= start
  })
}

/** The state beside the name of a component. An open incident outweighs checks that succeed. */
export function stateOf({ name, state }: Pick<ComponentHistory, 'name' | 'state'>, incidents: readonly Incident[]) {
  const open = incidents.find(
    ({ closed, components, kind, state: step }) =>
      closed === null && components.includes(name) && (kind === 'incident' || step === 'in_progress'),
  )
  if (state === 'down' || open === undefined) return { level: state, text: HISTORY.states[state] }
  return { level: 'partial', text: labelOf(open.state) }
}

/** The headline of the page. */
export function overallOf({ components, incidents }: Pick<StatusHistory, 'components' | 'incidents'>): {
  readonly level: DayLevel
  readonly text: string
} {
  const open = incidents.filter(({ closed }) => closed === null)
  const down = components.filter(({ state }) => state === 'down').map(({ name }) => COMPONENT_NAMES[name])
  if (down.length > 0) return { level: 'outage', text: HISTORY.problems(down.join(', ')) }
  const [incident] = open.filter(({ kind }) => kind === 'incident')
  if (incident !== undefined) return { level: 'partial', text: HISTORY.openIncident(incident.title) }
  if (open.some(({ state }) => state === 'in_progress')) return { level: 'partial', text: HISTORY.inMaintenance }
  if (components.every(({ state }) => state === 'unknown')) return { level: 'none', text: HISTORY.noChecks }
  return { level: 'up', text: HISTORY.allUp }
}
