// A metric as the operators' page shows it: one figure, its unit, and its values with quantiles of durations. Invariant
// (test/monitor/metric-report.test.ts): the stored history of a family is the same figure.

import type { MetricFamily } from './metric-families.ts'
import type { FiguresAt } from './monitor-api.ts'

/** Gauges of which the figure is a sum over regions. All others show their highest value. */
const SUMMED = ['relays', 'sockets', 'subscriptions']
/** The figure would be the same in every state. */
const WITHOUT_FIGURE = 'feed_state'

/** A value with its labels. Durations: the number of requests, and the bounds of their quantiles in seconds. */
interface MetricValue {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Null: longer than the longest bound. Absent: not a duration. */
  readonly p50?: number | null
  readonly p99?: number | null
}

export interface ReportedMetric {
  /** As in queries. */
  readonly name: string
  readonly type: MetricFamily['type']
  readonly help: string
  readonly unit: 'seconds' | 'credits' | 'blocks' | 'rows' | null
  /** Sum of a counter, number of durations, highest value of a gauge; null: no value. */
  readonly figure: number | null
  readonly values: readonly MetricValue[]
}

export const reportedName = ({ name, type }: MetricFamily) => `weir_${name}${type === 'counter' ? '_total' : ''}`

function unitOf(name: string): ReportedMetric['unit'] {
  if (name.endsWith('_seconds')) return 'seconds'
  if (name.startsWith('credits_')) return 'credits'
  if (name.endsWith('_blocks')) return 'blocks'
  return name.startsWith('d1_rows_') ? 'rows' : null
}

/** Null: the family has no value now. */
function figureOf({ name, type, samples }: MetricFamily): number | null {
  const values = samples.filter(({ suffix }) => suffix !== '_bucket' && suffix !== '_sum').map(({ value }) => value)
  if (values.length === 0 || name === WITHOUT_FIGURE) return null
  const isSum = type !== 'gauge' || SUMMED.includes(name)
  return isSum ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)
}

export function reportedMetric(family: MetricFamily): ReportedMetric {
  const { name, type, help, samples } = family
  return {
    name: reportedName(family),
    type,
    help,
    unit: unitOf(name),
    figure: figureOf(family),
    values:
      type === 'histogram' ? durations(family) : samples.map(({ labels, value }): MetricValue => ({ labels, value })),
  }
}

function durations({ samples }: MetricFamily): MetricValue[] {
  return samples
    .filter(({ suffix }) => suffix === '_count')
    .map(({ labels, value }) => {
      const buckets = samples.filter((one) => one.suffix === '_bucket' && one.labels.surface === labels.surface)
      const bound = (share: number) => {
        const le = buckets.find((bucket) => bucket.value >= value * share)?.labels.le
        return le === undefined || le === '+Inf' ? null : Number(le)
      }
      return { labels, value, p50: bound(0.5), p99: bound(0.99) }
    })
}

/** Time between two figures of the history. */
export const HISTORY_STEP_MS = 10 * 60_000
/** Length of the history. */
export const HISTORY_MS = 24 * 3_600_000

/** Families without a figure are left out. */
export function figuresOf(families: readonly MetricFamily[]): FiguresAt['figures'] {
  return Object.fromEntries(
    families.flatMap((family) => {
      const figure = figureOf(family)
      return figure === null ? [] : [[reportedName(family), figure]]
    }),
  )
}
