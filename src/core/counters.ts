// Counters of this isolate, which it reports to the Monitor. Invariants: the set of series is bounded, because labels
// are values from our code; an increment allocates nothing after the first one of its series.

/** A series, such as `requests|info|200`: a name of COUNTERS and its label values. */
type Series = string
export type SeriesValue = readonly [Series, number]

export interface CounterFamily {
  readonly help: string
  readonly labels: readonly string[]
  /** Divides the stored integer, for example to show credits instead of micro-credits. */
  readonly per?: number
}

/** Every counter, by its name without `weir_` and `_total`. */
export const COUNTERS = {
  requests: { help: 'Requests, by surface and HTTP status; 101 is a socket.', labels: ['surface', 'status'] },
  log_events: { help: 'Errors and warnings in the logs, by event.', labels: ['event'] },
  object_starts: { help: 'Starts of Durable Objects, after idle time or a reset, by class.', labels: ['class'] },
  socket_closes: { help: 'Client sockets that a relay closed, by close code.', labels: ['code'] },
  store_operations: { help: 'Calls to D1, KV and R2, by binding.', labels: ['binding', 'operation'] },
  store_errors: { help: 'Failed calls to D1, KV and R2, by binding.', labels: ['binding'] },
  d1_rows_read: { help: 'Rows that D1 reported as read, by binding.', labels: ['binding'] },
  d1_rows_written: { help: 'Rows that D1 reported as written, by binding.', labels: ['binding'] },
  credits_leased: { help: 'Credits leased to isolates.', labels: [], per: 1e6 },
  credits_charged: { help: 'Credits charged, leased or not.', labels: [], per: 1e6 },
  credits_returned: { help: 'Leased credits returned unspent.', labels: [], per: 1e6 },
  credits_reclaimed: { help: 'Leased credits reclaimed from isolates that stopped reporting.', labels: [], per: 1e6 },
  credits_written_off: { help: 'Credits that were spent but could not be charged.', labels: [], per: 1e6 },
} as const satisfies Readonly<Record<string, CounterFamily>>

export type CounterName = keyof typeof COUNTERS

/** Current values, not sums. The Monitor shows the highest value of all isolates. */
export const GAUGES = {
  usage_copy_late_seconds: 'Time since the oldest copy of usage that failed was due; 0: none fails.',
} as const
export type GaugeName = keyof typeof GAUGES

/** Values of one isolate. All numbers are sums since its last report. */
export interface CounterReport {
  readonly v: number
  /** Random id of the isolate. */
  readonly isolate: string
  /** Grows with every report. A repeated number marks a report that was possibly received before. */
  readonly number: number
  readonly sums: readonly SeriesValue[]
  readonly gauges: readonly (readonly [GaugeName, number])[]
}

/** Monitor method for reports. */
export interface CounterSink {
  /** `everyMs`: minimum time until the isolate's next report. */
  report(report: CounterReport): Promise<{ readonly v: number; readonly everyMs: number }>
}

const GAUGE_TTL_MS = 30 * 60_000

export class Counters {
  readonly #sums = new Map<Series, number>()
  readonly #gauges = new Map<GaugeName, Map<string, { readonly value: number; readonly atMs: number }>>()
  readonly #sources: (() => Iterable<SeriesValue>)[] = []

  /** `labels`: label values in the family's order, separated by `|`. */
  add(name: CounterName, labels = '', by = 1): void {
    const series = labels === '' ? name : `${name}|${labels}`
    this.#sums.set(series, (this.#sums.get(series) ?? 0) + by)
  }

  /** `source` returns what it counted since the last call. */
  addSource(source: () => Iterable<SeriesValue>): void {
    this.#sources.push(source)
  }

  /** `of`: for example an account. A value of 0 is not stored, so the memory is bounded by what goes wrong. */
  setGauge(name: GaugeName, of: string, value: number, nowMs: number): void {
    const values = this.#gauges.get(name) ?? new Map<string, { readonly value: number; readonly atMs: number }>()
    this.#gauges.set(name, values)
    if (value > 0) values.set(of, { value, atMs: nowMs })
    else values.delete(of)
  }

  /** Sums since the last call, which are then forgotten. */
  take(): SeriesValue[] {
    for (const source of this.#sources) {
      for (const [series, value] of source()) this.#sums.set(series, (this.#sums.get(series) ?? 0) + value)
    }
    const sums = [...this.#sums]
    this.#sums.clear()
    return sums
  }

  gauges(nowMs: number): [GaugeName, number][] {
    return [...this.#gauges].map(([name, values]) => {
      // An object that moved to another isolate does not take its value back.
      for (const [of, { atMs }] of values) if (nowMs - atMs >= GAUGE_TTL_MS) values.delete(of)
      return [name, Math.max(0, ...[...values.values()].map(({ value }) => value))]
    })
  }
}

/** The counters of this isolate. */
export const counters = new Counters()
