// Reports this isolate's counters to the Monitor: at most one call per interval, whatever the traffic. Invariant: a report
// that may have been lost is repeated unchanged under its number, so nothing is counted twice or lost while the isolate
// lives.

import type { CounterReport, CounterSink, Counters } from './counters.ts'
import { SingleFlight } from './single-flight.ts'

export const COUNTERS_VERSION = 1
/** The platform ends work 30 s after a response. */
const DELAY_MS = 20_000
const LOST_MS = 29_000

/** Keeps work alive after the event that started it. */
export interface ReportContext {
  waitUntil(work: Promise<unknown>): void
}

interface ReporterPorts {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly newId: () => string
}

export class CounterReporter {
  readonly #counters: Counters
  readonly #ports: ReporterPorts
  readonly #flight = new SingleFlight<void>(LOST_MS)
  #pending: CounterReport | null = null
  #isolate: string | null = null
  #number = 0
  #sentMs = Number.NEGATIVE_INFINITY
  #everyMs = 0

  constructor(counters: Counters, ports: ReporterPorts) {
    this.#counters = counters
    this.#ports = ports
  }

  /** For isolates without objects: reports a while after the first of the counted requests, if the interval is then over. */
  schedule(sink: () => CounterSink, context: ReportContext, nowMs: number): void {
    if (nowMs + DELAY_MS - this.#sentMs < this.#everyMs || this.#flight.current(nowMs) !== null) return
    context.waitUntil(this.#flight.start(() => this.#ports.sleep(DELAY_MS).then(() => this.#send(sink())), nowMs))
  }

  /** For objects, which a timer would keep in memory: reports now if the interval is over. */
  flush(sink: () => CounterSink, context: ReportContext): void {
    const nowMs = this.#ports.nowMs()
    if (nowMs - this.#sentMs < this.#everyMs || this.#flight.current(nowMs) !== null) return
    context.waitUntil(this.#flight.start(() => this.#send(sink()), nowMs))
  }

  /** Never rejects. */
  async #send(sink: CounterSink): Promise<void> {
    this.#sentMs = this.#ports.nowMs()
    this.#isolate ??= this.#ports.newId()
    this.#pending ??= {
      v: COUNTERS_VERSION,
      isolate: this.#isolate,
      number: this.#number++,
      sums: this.#counters.take(),
      gauges: this.#counters.gauges(this.#sentMs),
    }
    const sent = this.#pending
    const answer = await sink.report(sent).catch(() => null)
    this.#everyMs = answer?.everyMs ?? DELAY_MS
    // A late answer confirms only its own report.
    if (answer !== null && this.#pending === sent) this.#pending = null
  }
}
