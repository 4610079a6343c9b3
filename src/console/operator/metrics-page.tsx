// The metrics of `/metrics`, with their values now, of the last day and since the page was opened.

import { useSignal, useSignalEffect } from '@preact/signals'
import { useId } from 'preact/hooks'
import { usePolling } from '../polling.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { QueryView } from '../ui/parts.tsx'
import { type Column, numberColumn, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import * as metricStrings from './metric-strings.ts'
import { byValue, foundMetrics, inGroups, type Metric, metricText, type Session, withFigures } from './metric-view.ts'
import { increases, sparkPath } from './sparkline.ts'
import * as strings from './strings.ts'
import './metrics.css'

type MetricValue = Metric['values'][number]
const POLL_MS = 10_000
const REFERENCE = '/docs/operators/reference/metrics'
const GUIDE = '/docs/operators/guides/monitor#scrape-metrics'
const WIDTH = 200
const HEIGHT = 24

interface SparkProps {
  readonly metric: Metric
  readonly span: string
  /** Keeps the place of lines that no metric has yet. */
  readonly isBlank: boolean
  readonly values: readonly (number | null)[] | undefined
  /** Describes the increases of a sum. */
  readonly sumText: (increases: readonly number[]) => string
}

function Spark({ metric: { name, type, unit }, span, isBlank, values = [], sumText }: SparkProps) {
  const isSum = type !== 'gauge'
  const drawn = isSum ? increases(values) : values
  const known = drawn.filter((value) => value !== null)
  const path = sparkPath(drawn, WIDTH, HEIGHT, isSum)
  const range = () =>
    metricStrings.metricsRange(metricText(Math.min(...known), unit), metricText(Math.max(...known), unit))
  const text = path === '' ? metricStrings.metricsWaiting : isSum ? sumText(known) : range()
  return (
    <div class={isBlank ? 'spark blank' : 'spark'}>
      <svg
        role="img"
        aria-label={metricStrings.metricsLine(name, span, text)}
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
      >
        {path !== '' && <path d={path} />}
      </svg>
      <span class="soft">{text}</span>
    </div>
  )
}

const boundText = (value: MetricValue, field: 'p50' | 'p99') => {
  const bound = value[field] ?? null
  return bound === null ? metricStrings.metricsLonger : metricText(bound, 'seconds')
}

function columnsOf({ type, unit, values }: Metric): readonly Column<MetricValue>[] {
  const labels = [...new Set(values.flatMap(({ labels: own }) => Object.keys(own)))]
  const isDurations = type === 'histogram'
  return [
    ...labels.map((label): Column<MetricValue> => ({ name: label, text: ({ labels: own }) => own[label] ?? '' })),
    numberColumn(isDurations ? metricStrings.metricsRequests : metricStrings.metricsValue, ({ value }) =>
      metricText(value, isDurations ? null : unit),
    ),
    ...(isDurations
      ? [
          numberColumn<MetricValue>(metricStrings.metricsP50, (value) => boundText(value, 'p50')),
          numberColumn<MetricValue>(metricStrings.metricsP99, (value) => boundText(value, 'p99')),
        ]
      : []),
  ]
}

interface MetricRowProps {
  readonly metric: Metric
  readonly day: readonly (number | null)[] | undefined
  readonly session: readonly (number | null)[] | undefined
  readonly isDayBlank: boolean
  readonly isSessionBlank: boolean
}

function MetricRow({ metric, day, session, isDayBlank, isSessionBlank }: MetricRowProps) {
  const { name, type, help, figure, values } = metric
  const unit = type === 'histogram' ? null : metric.unit
  const shown = { ...metric, unit }
  const isLabeled = values.some(({ labels }) => Object.keys(labels).length > 0)
  return (
    <li class="metric">
      <div>
        <h3>
          <code>{name}</code>
        </h3>
        <p class="soft">{help}</p>
      </div>
      <p class="figure">
        {figure === null ? (
          <span class="none">{values.length === 0 && metricStrings.metricsNoValue}</span>
        ) : (
          <>
            <b>{metricText(figure, unit)}</b>
            <span class="soft">{metricStrings.metricsFigures[type]}</span>
          </>
        )}
      </p>
      <Spark
        metric={shown}
        span={metricStrings.metricsDay}
        values={day}
        isBlank={isDayBlank}
        sumText={(known) => metricStrings.metricsDayIncrease(metricText(Math.max(...known), unit))}
      />
      <Spark
        metric={shown}
        span={metricStrings.metricsSession}
        values={session}
        isBlank={isSessionBlank}
        sumText={(known) => metricStrings.metricsSessionIncrease(metricText(sumOf(known), unit))}
      />
      {isLabeled && (
        <details>
          <summary>{metricStrings.metricsValues(values.length)}</summary>
          <Table caption={name} columns={columnsOf(metric)} rows={values} empty="" csv={name} />
        </details>
      )}
    </li>
  )
}

interface MetricListProps {
  readonly metrics: readonly Metric[]
  readonly day: Session | undefined
  readonly session: Session
}

function MetricList({ metrics, day, session }: MetricListProps) {
  const isBlank = (lines: Session | undefined) => metrics.every((metric) => !hasLine(lines?.[metric.name]))
  const isDayBlank = isBlank(day)
  const isSessionBlank = isBlank(session)
  return inGroups(metrics).map(({ title, metrics: own }) => (
    <section key={title}>
      <div class="heads">
        <h2>{title}</h2>
        <span class={isDayBlank ? 'blank' : ''}>{metricStrings.metricsDay}</span>
        <span class={isSessionBlank ? 'blank' : ''}>{metricStrings.metricsSession}</span>
      </div>
      <ul class="metrics">
        {own.map((metric) => (
          <MetricRow
            key={metric.name}
            metric={metric}
            day={day?.[metric.name]}
            session={session[metric.name]}
            isDayBlank={isDayBlank}
            isSessionBlank={isSessionBlank}
          />
        ))}
      </ul>
    </section>
  ))
}

/** A line needs two values. */
const hasLine = (values: readonly (number | null)[] = []) => values.filter((value) => value !== null).length > 1

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

export function MetricsPage() {
  const id = useId()
  const search = useSignal('')
  const session = useSignal<Session>({})
  const metrics = useQuery<Responses['listMetrics']>(() => '/admin/metrics')
  const history = useQuery<Responses['metricHistory']>(() => '/admin/metrics/history')
  usePolling(metrics, POLL_MS)
  useSignalEffect(() => {
    if (metrics.value.value) session.value = withFigures(session.peek(), metrics.value.value.metrics)
  })
  return (
    <>
      <h1>{strings.pagesMetrics}</h1>
      <p>
        {metricStrings.metricsText}
        <code>/metrics</code>
        {metricStrings.metricsTextMore}
        <a href={REFERENCE}>{metricStrings.metricsGuide}</a>.
      </p>
      <QueryView query={metrics} height={640}>
        {({ at, counted, metrics: all }) => {
          const found = foundMetrics(all, search.value)
          const [valued, empty] = byValue(found)
          const lists = { day: history.value.value?.figures, session: session.value }
          return (
            <>
              {!counted && (
                <p class="note">
                  {metricStrings.metricsNotCounted}
                  <a href={GUIDE}>{metricStrings.metricsNotCountedGuide}</a>.
                </p>
              )}
              <div class="beside find">
                <label for={id}>{metricStrings.metricsSearch}</label>
                <input
                  id={id}
                  type="search"
                  placeholder={metricStrings.metricsPlaceholder}
                  maxLength={100}
                  value={search.value}
                  onInput={({ currentTarget }) => (search.value = currentTarget.value)}
                />
                <span class="soft" role="status">
                  {metricStrings.metricsCount(found.length, all.length)}
                </span>
                <span class="soft">
                  {metricStrings.metricsUpdated} <Time atMs={at} />
                </span>
              </div>
              {found.length === 0 && <p class="empty">{metricStrings.metricsNone(search.value)}</p>}
              <MetricList metrics={valued} {...lists} />
              {empty.length > 0 && (
                <details open={valued.length === 0}>
                  <summary>{metricStrings.metricsEmpty(empty.length)}</summary>
                  <MetricList metrics={empty} {...lists} />
                </details>
              )}
            </>
          )
        }}
      </QueryView>
    </>
  )
}
