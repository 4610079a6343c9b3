// Sums the counters of all isolates. Invariants (test/monitor/totals.test.ts): a report counts once, however often it
// arrives; a sum never falls; the memory is bounded.

import { BoundedMap } from '../core/bounded-map.ts'
import type { CounterReport, SeriesValue } from '../core/counters.ts'

const SERIES_MAX = 4_000
const SERIES_MAX_CHARS = 120
const ISOLATES_MAX = 2_000
/** An isolate that is silent for this long has ended, or has nothing to say. */
const GAUGE_TTL_MS = 15 * 60_000

/** Stored form. */
export interface StoredTotals {
  readonly sums: readonly SeriesValue[]
  /** Last report of each isolate. */
  readonly numbers: readonly (readonly [isolate: string, number: number])[]
}

interface IsolateGauges {
  readonly atMs: number
  readonly gauges: CounterReport['gauges']
}

export class Totals {
  readonly #sums: Map<string, number>
  readonly #numbers = new BoundedMap<string, number>(ISOLATES_MAX)
  /** Not stored: they are reported again. */
  readonly #gauges = new BoundedMap<string, IsolateGauges>(ISOLATES_MAX)

  constructor(stored: StoredTotals = { sums: [], numbers: [] }) {
    this.#sums = new Map(stored.sums)
    for (const [isolate, number] of stored.numbers) this.#numbers.set(isolate, number)
  }

  get stored(): StoredTotals {
    return { sums: this.sums(), numbers: [...this.#numbers.entries()] }
  }

  /** False if the report was counted before. */
  add({ isolate, number, sums, gauges }: CounterReport, nowMs: number): boolean {
    this.#gauges.set(isolate, { atMs: nowMs, gauges })
    if (number <= (this.#numbers.get(isolate) ?? -1)) return false
    this.#numbers.set(isolate, number)
    for (const [series, value] of sums) {
      const isBounded = this.#sums.has(series) || (this.#sums.size < SERIES_MAX && series.length <= SERIES_MAX_CHARS)
      if (isBounded && value > 0) this.#sums.set(series, (this.#sums.get(series) ?? 0) + value)
    }
    return true
  }

  sum(series: string): number {
    return this.#sums.get(series) ?? 0
  }

  sums(): SeriesValue[] {
    return [...this.#sums]
  }

  /** The highest value of each gauge. */
  gauges(nowMs: number): SeriesValue[] {
    const highest = new Map<string, number>()
    for (const { atMs, gauges } of this.#gauges.values()) {
      if (nowMs - atMs >= GAUGE_TTL_MS) continue
      for (const [name, value] of gauges) highest.set(name, Math.max(value, highest.get(name) ?? 0))
    }
    return [...highest]
  }
}
