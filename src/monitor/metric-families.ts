// The families of `GET /metrics` with their samples, as data. Invariants (test/monitor/metric-families.test.ts and
// exposition.test.ts): every family has a type and a help text, also while it has no sample; each series appears once.

import { COUNTERS, type CounterFamily, type Family, GAUGES, type SeriesValue } from '../core/counters.ts'
import type { SourcesStatus } from '../protocol/feed/sources-shape.ts'
import { FEED_STATES, type LogStatus } from '../protocol/feed/status-shape.ts'
import type { Scrape } from './monitor-api.ts'
import { DURATION_BOUNDS_MS, SURFACES } from './request-counts.ts'

export interface MetricSample {
  /** Added to the name of the family, such as `_total`. */
  readonly suffix: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface MetricFamily {
  /** Without `weir_`. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly MetricSample[]
}

/** Gauges that are read at each scrape. Families of the log have no samples while it does not answer. */
const READ_GAUGES = {
  up: 'Whether the log answered; 0: no value of the log is shown.',
  feed_state: 'The state of the feed as in /status; 1 for the current one.',
  head_height: 'Height of the last block.',
  durable_height: 'Height of the last stored block.',
  head_age_seconds: 'Age of the last block by its own time.',
  head_received_age_seconds: 'Time since the last block was accepted.',
  feeders_connected: 'Connected feeders.',
  feeder_lag_seconds: 'Age of the newest block that a connected feeder read, in its last pulse.',
  reader_lag_blocks: 'Blocks that were not yet sent to the slowest reader of the log, by kind of reader.',
  archive_lag_seconds: 'Lag of the archive.',
  archive_files_lag_seconds: 'Lag of the files of the archive.',
  gaps: 'Ranges of missing heights, at most 20.',
  disagreements: 'Conflicting copies of stored blocks since the log object started.',
  relays: 'Relays that sent blocks in the last minutes, by region.',
  sockets: 'Client sockets, by region.',
  subscriptions: 'Subscriptions, by region.',
  delivery_p50_seconds: 'Median age of blocks when relays send them, by region.',
  delivery_p99_seconds: '99th percentile of the same age.',
  source_up: 'Whether a source is in use, as seen by the answering isolate; 0: it rests.',
  source_lag_seconds: 'Lag of a source whose lag is known.',
} as const
type ReadGauge = keyof typeof READ_GAUGES

interface Sample {
  readonly name: ReadGauge
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export function metricFamilies(
  { sums, gauges, status, nowMs }: Scrape,
  sources: Pick<SourcesStatus, 'sources'>,
): MetricFamily[] {
  const read = [
    gauge('up', status === null ? 0 : 1),
    ...(status === null ? [] : [...feedSamples(status, nowMs), ...regionSamples(status)]),
    ...sourceSamples(sources),
  ]
  return [
    ...Object.entries(COUNTERS).map(([name, family]) => counterFamily(name, family, sums)),
    durationFamily(sums),
    ...Object.entries(GAUGES).map(([name, family]): MetricFamily => {
      const samples = samplesOf('', valuesOf(name, family, gauges), family.labels)
      return { name, type: 'gauge', help: family.help, samples }
    }),
    ...Object.entries(READ_GAUGES).map(([name, help]): MetricFamily => {
      const own = read.filter((one) => one?.name === name)
      return { name, type: 'gauge', help, samples: own.flatMap((one) => (one ? [{ suffix: '', ...one }] : [])) }
    }),
  ]
}

function feedSamples(status: LogStatus, nowMs: number): Sample[] {
  const { state, height, durable, time, blockMs, feeders, archive, gaps, disagreements } = status
  const connected = feeders.filter(({ connected: isUp }) => isUp)
  return [
    ...FEED_STATES.map((each) => gauge('feed_state', each === state ? 1 : 0, { state: each })),
    gauge('head_height', height),
    gauge('durable_height', durable),
    gauge('head_age_seconds', seconds(time === null ? null : nowMs - time)),
    gauge('head_received_age_seconds', seconds(blockMs === null ? null : nowMs - blockMs)),
    gauge('feeders_connected', connected.length),
    ...connected.map(({ name, lagMs }) => gauge('feeder_lag_seconds', seconds(lagMs), { feeder: name })),
    ...readerSamples(status),
    gauge('archive_lag_seconds', seconds(archive?.lagMs ?? null)),
    gauge('archive_files_lag_seconds', seconds(archive?.files?.lagMs ?? null)),
    gauge('gaps', gaps.length),
    gauge('disagreements', disagreements),
  ].filter((sample) => sample !== null)
}

function readerSamples({ readers, height }: LogStatus): (Sample | null)[] {
  const lags = new Map<string, number>()
  for (const { name, height: sent } of readers) {
    if (height === null || sent === null) continue
    const kind = kindOfReader(name)
    lags.set(kind, Math.max(lags.get(kind) ?? 0, height - sent))
  }
  return [...lags].map(([kind, lag]) => gauge('reader_lag_blocks', lag, { kind }))
}

/** Names are `<chain>/<hub>`, `<chain>/<region>/<relay>` and `<chain>/l4/<coin>`. */
function kindOfReader(name: string): string {
  const [, second, third] = name.split('/')
  if (third === undefined) return 'hub'
  return second === 'l4' ? 'order_book' : 'relay'
}

function regionSamples({ regions }: LogStatus): Sample[] {
  return regions
    .flatMap(({ region, relays, sockets, subscriptions, p50Ms, p99Ms }) => [
      gauge('relays', relays, { region }),
      gauge('sockets', sockets, { region }),
      gauge('subscriptions', subscriptions, { region }),
      gauge('delivery_p50_seconds', seconds(p50Ms), { region }),
      gauge('delivery_p99_seconds', seconds(p99Ms), { region }),
    ])
    .filter((sample) => sample !== null)
}

function sourceSamples({ sources }: Pick<SourcesStatus, 'sources'>): Sample[] {
  return sources
    .flatMap(({ name, state, lagMs }) => [
      gauge('source_up', state === 'ok' ? 1 : 0, { source: name }),
      gauge('source_lag_seconds', seconds(lagMs), { source: name }),
    ])
    .filter((sample) => sample !== null)
}

function counterFamily(name: string, family: CounterFamily, sums: readonly SeriesValue[]): MetricFamily {
  const samples = samplesOf('_total', valuesOf(name, family, sums), family.labels, family.per)
  return { name, type: 'counter', help: family.help, samples }
}

/** The series of a family. Without a sample, a rule could not tell "none yet" from "not reported". */
function valuesOf(name: string, { labels, known = [] }: Family, all: readonly SeriesValue[]): SeriesValue[] {
  const zeros = labels.length === 0 ? [name] : known.map((label) => `${name}|${label}`)
  const own = all.filter(([series]) => series === name || series.startsWith(`${name}|`))
  return [...new Map([...zeros.map((series): SeriesValue => [series, 0]), ...own])]
}

function samplesOf(suffix: string, values: readonly SeriesValue[], labels: readonly string[], per = 1): MetricSample[] {
  return values.map(([series, value]) => {
    const texts = series.split('|').slice(1)
    return {
      suffix,
      labels: Object.fromEntries(labels.map((label, index) => [label, texts[index] ?? ''])),
      value: value / per,
    }
  })
}

/** A histogram per surface that has requests. */
function durationFamily(sums: readonly SeriesValue[]): MetricFamily {
  const values = new Map(sums)
  const used = SURFACES.filter((surface) => values.has(`duration_ms|${surface}`) || hasDurations(values, surface))
  return {
    name: 'request_duration_seconds',
    type: 'histogram',
    help: 'Time to the start of the response, by surface.',
    samples: used.flatMap((surface) => {
      let count = 0
      const buckets = [...DURATION_BOUNDS_MS, null].map((bound, index) => {
        count += values.get(`duration|${surface}|${index}`) ?? 0
        const le = bound === null ? '+Inf' : String(bound / 1000)
        return { suffix: '_bucket', labels: { surface, le }, value: count }
      })
      const sum = (values.get(`duration_ms|${surface}`) ?? 0) / 1000
      const labels = { surface }
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: count }]
    }),
  }
}

const hasDurations = (values: ReadonlyMap<string, number>, surface: string) =>
  Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, (_, index) => index).some((index) =>
    values.has(`duration|${surface}|${index}`),
  )

const seconds = (ms: number | null) => (ms === null ? null : ms / 1000)

function gauge(name: ReadGauge, value: number | null | undefined, labels: MetricSample['labels'] = {}): Sample | null {
  return value === null || value === undefined ? null : { name, labels, value }
}
