// Text of `GET /metrics`, as OpenMetrics or in the older format of Prometheus. Invariants (test/monitor/exposition.test.ts):
// label values are escaped; both formats have the same samples.

import { visible } from '../core/visible.ts'
import type { MetricFamily, MetricSample } from './metric-families.ts'

const OPEN_METRICS = 'application/openmetrics-text'
/** The older format names the family of a counter like its samples. */
interface Format {
  readonly contentType: string
  readonly counterSuffix: string
  readonly end: string
}

/** `accept`: what the client accepts. Prometheus names OpenMetrics first. */
export function formatFor(accept = ''): Format {
  return accept.includes(OPEN_METRICS)
    ? { contentType: `${OPEN_METRICS}; version=1.0.0; charset=utf-8`, counterSuffix: '', end: '# EOF\n' }
    : { contentType: 'text/plain; version=0.0.4; charset=utf-8', counterSuffix: '_total', end: '' }
}

export function metricsText(families: readonly MetricFamily[], format: Format): string {
  return [
    ...families.flatMap(({ name, type, help, samples }) => {
      const named = `weir_${name}${type === 'counter' ? format.counterSuffix : ''}`
      return [`# TYPE ${named} ${type}`, `# HELP ${named} ${help}`, ...samples.map((sample) => line(name, sample))]
    }),
    format.end,
  ].join('\n')
}

function line(name: string, { suffix, labels, value }: MetricSample): string {
  const listed = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `weir_${name}${suffix}${listed.length === 0 ? '' : `{${listed.join(',')}}`} ${value}`
}

/** Feeders choose their names. Prometheus would not read a text with a null character. */
const escaped = (text: string) => visible(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')
