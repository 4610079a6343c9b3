// Where a gateway isolate reports its counters: the Monitor, and Analytics Engine if it is bound.

import type { CounterSink } from '../core/counters.ts'
import { monitorOf } from '../core/objects.client.ts'
import { SECRET_MIN_LENGTH } from '../core/secret.ts'

/** Optional secret and binding. */
export interface MonitorEnv {
  readonly METRICS_TOKEN?: string
  readonly METRICS?: AnalyticsEngineDataset
}
type Env = Cloudflare.Env & MonitorEnv

/** The platform's limit for one invocation is 250. */
const POINTS_MAX = 200

export const metricsToken = ({ METRICS_TOKEN }: MonitorEnv) => METRICS_TOKEN

/** Whether anything reads the counters of gateway isolates. */
export function isReported({ METRICS_TOKEN, METRICS }: MonitorEnv): boolean {
  return METRICS !== undefined || (METRICS_TOKEN?.length ?? 0) >= SECRET_MIN_LENGTH
}

export function counterSink(env: Env): () => CounterSink {
  const { METRICS: dataset } = env
  if (dataset === undefined) return () => monitorOf(env)
  let counted = -1
  const waiting = new Map<string, number>()
  return () => ({
    report: async (report) => {
      // The sums of a repeated report are already there.
      if (report.number > counted)
        for (const [series, value] of report.sums) waiting.set(series, (waiting.get(series) ?? 0) + value)
      counted = report.number
      writePoints(dataset, waiting)
      // The Monitor does not know who reads the data set.
      return { ...(await monitorOf(env).report(report)), everyMs: 0 }
    },
  })
}

/** One point per series: its name as index and first blob, its label values as further blobs, its increase as double. */
function writePoints(dataset: AnalyticsEngineDataset, waiting: Map<string, number>): void {
  for (const [series, value] of [...waiting].slice(0, POINTS_MAX)) {
    const [name = '', ...labels] = series.split('|')
    try {
      dataset.writeDataPoint({ indexes: [name], blobs: [name, ...labels], doubles: [value] })
    } catch {
      // The Monitor still gets the report.
      return
    }
    waiting.delete(series)
  }
}
