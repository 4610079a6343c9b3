// Names of all metrics as queries use them, from the text of `GET /metrics`.

import { formatFor, metricsText } from '../../src/monitor/exposition.ts'
import { metricFamilies } from '../../src/monitor/metric-families.ts'
import type { SourcesStatus } from '../../src/protocol/feed/sources-shape.ts'

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}
const NONE = { v: 1, nowMs: 0, sums: [], gauges: [], status: null }
const text = metricsText(
  metricFamilies(NONE, { sources: [] } as unknown as SourcesStatus),
  formatFor('application/openmetrics-text'),
)

export const METRIC_NAMES = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
  (SUFFIXES[type ?? ''] ?? []).map((suffix) => `${name}${suffix}`),
)
