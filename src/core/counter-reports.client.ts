// The reporter of this isolate, and its use by objects.

import { CounterReporter, type ReportContext } from './counter-reporter.ts'
import { counters } from './counters.ts'
import { monitorOf } from './objects.client.ts'
import { sleep } from './timers.client.ts'

export const reporter = new CounterReporter(counters, {
  nowMs: () => Date.now(),
  sleep,
  newId: () => crypto.randomUUID(),
})

type Env = Partial<Pick<Cloudflare.Env, 'MONITOR'>>

/** Reports from an object. Call it at the end of its work, which the report then includes. Most calls do nothing. */
export function reportCounters(ctx: ReportContext, env: Env): void {
  if (env.MONITOR !== undefined) reporter.flush(() => monitorOf(env), ctx)
}

/** Counts the start of an object. Call it in the constructor. */
export function countStart(className: string): void {
  counters.add('object_starts', className)
}
