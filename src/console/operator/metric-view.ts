// Texts of metric values.

import type { Responses } from '../responses.ts'
import { groupedText } from '../ui/format.ts'
import { metricGroups } from './metric-strings.ts'

export type Metric = Responses['listMetrics']['metrics'][number]

const MILLI = 1_000
const MINUTE_S = 60
const HOUR_S = 3_600

/** Three significant digits for fractions, grouped whole numbers otherwise. */
function numberText(value: number): string {
  if (Number.isInteger(value)) return groupedText(String(value))
  return groupedText(String(Number(Math.abs(value) < MILLI ? value.toPrecision(3) : value.toFixed(1))))
}

/** `250 ms`, `12.5 s`, `3.2 min`, `1,234 credits`, `1 credit`, `42`. */
export function metricText(value: number, unit: Metric['unit']): string {
  if (unit === null) return numberText(value)
  if (unit !== 'seconds') return `${numberText(value)} ${value === 1 ? unit.slice(0, -1) : unit}`
  if (value !== 0 && Math.abs(value) < 1) return `${numberText(value * MILLI)} ms`
  if (value < 2 * MINUTE_S) return `${numberText(value)} s`
  return value < 2 * HOUR_S ? `${numberText(value / MINUTE_S)} min` : `${numberText(value / HOUR_S)} h`
}

/** Metrics with all words of the query in their name or help text. */
export function foundMetrics(metrics: readonly Metric[], query: string): readonly Metric[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return metrics.filter(({ name, help }) => {
    const text = `${name} ${name.replaceAll('_', ' ')} ${help}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Metrics with a value, and those without. */
export function byValue(metrics: readonly Metric[]): readonly [valued: readonly Metric[], empty: readonly Metric[]] {
  const isEmpty = ({ figure, values }: Metric) => figure === null && values.length === 0
  return [metrics.filter((metric) => !isEmpty(metric)), metrics.filter(isEmpty)]
}

/** First words of the names in each group. */
const GROUPS = [
  [metricGroups.traffic, ['requests', 'request', 'sockets', 'socket', 'subscriptions', 'relays', 'delivery']],
  [metricGroups.credits, ['credits', 'usage']],
  [metricGroups.feed, ['feed', 'feeder', 'feeders', 'head', 'durable', 'gaps', 'disagreements', 'reader']],
  [metricGroups.archive, ['archive', 'pipeline']],
  [metricGroups.sources, ['source']],
] as const

const groupOf = ({ name }: Metric): string => {
  const [, first = ''] = name.split('_')
  return GROUPS.find(([, words]) => words.some((word) => word === first))?.[0] ?? metricGroups.other
}

interface MetricGroup {
  readonly title: string
  readonly metrics: readonly Metric[]
}

/** The metrics by what they measure, without empty groups. */
export const inGroups = (metrics: readonly Metric[]): readonly MetricGroup[] =>
  [...GROUPS.map(([title]) => title), metricGroups.other]
    .map((title) => ({ title, metrics: metrics.filter((metric) => groupOf(metric) === title) }))
    .filter(({ metrics: own }) => own.length > 0)

/** Figures of each metric since the page was opened, oldest first. */
export type Session = Readonly<Record<string, readonly (number | null)[]>>

/** Later values replace the oldest ones. */
const SESSION_MAX = 360

export function withFigures(session: Session, metrics: readonly Metric[]): Session {
  const length = Math.max(0, ...Object.values(session).map((values) => values.length))
  return Object.fromEntries(
    metrics.map(({ name, figure }) => {
      const before = session[name] ?? Array.from({ length }, () => null)
      return [name, [...before, figure].slice(-SESSION_MAX)]
    }),
  )
}
