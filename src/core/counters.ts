// Counters of this isolate, which it reports to the Monitor. Invariants: the set of series is bounded, because labels
// are values from our code; an increment allocates nothing after the first one of its series.

import { LOG_LEVELS } from './log-line.ts'

/** A series, such as `requests|info|200`: a name of COUNTERS or GAUGES and its label values. */
type Series = string
export type SeriesValue = readonly [Series, number]

/** Stores whose calls are counted. */
export const STORES = ['ACCOUNTS', 'HISTORY', 'USAGE', 'KEYS', 'ARCHIVE'] as const
const FAULTS = Object.entries(LOG_LEVELS).flatMap(([event, level]) => (level === 'info' ? [] : [event]))
/** Phases of a pipeline that has rows to deliver. */
const LATE_PHASES = ['backfilling', 'live', 'retrying', 'unpaid', 'failed'] as const

export interface Family {
  readonly help: string
  readonly labels: readonly string[]
  /** Values of the only label that are shown as 0 before they occur, so that a query sees their first increase. */
  readonly known?: readonly string[]
}
export interface CounterFamily extends Family {
  /** Divides the stored integer, for example to show credits instead of micro-credits. */
  readonly per?: number
}

/** Every counter, by its name without `weir_` and `_total`. */
export const COUNTERS = {
  requests: { help: 'Requests, by surface and HTTP status; 101 is a socket.', labels: ['surface', 'status'] },
  log_events: { help: 'Errors and warnings in the logs, by event.', labels: ['event'], known: FAULTS },
  object_starts: { help: 'Starts of Durable Objects, after idle time or a reset, by class.', labels: ['class'] },
  socket_closes: { help: 'Client sockets that a relay closed, by close code.', labels: ['code'] },
  store_operations: { help: 'Calls to D1, KV and R2, by binding.', labels: ['binding', 'operation'] },
  store_errors: { help: 'Failed calls to D1, KV and R2, by binding.', labels: ['binding'], known: STORES },
  d1_rows_read: { help: 'Rows that D1 reported as read, by binding.', labels: ['binding'] },
  d1_rows_written: { help: 'Rows that D1 reported as written, by binding.', labels: ['binding'] },
  credits_leased: { help: 'Credits leased to isolates.', labels: [], per: 1e6 },
  credits_charged: { help: 'Credits charged, leased or not.', labels: [], per: 1e6 },
  credits_returned: { help: 'Leased credits returned unspent.', labels: [], per: 1e6 },
  credits_reclaimed: { help: 'Leased credits reclaimed from isolates that stopped reporting.', labels: [], per: 1e6 },
  credits_written_off: { help: 'Credits that were spent but could not be charged.', labels: [], per: 1e6 },
} as const satisfies Readonly<Record<string, CounterFamily>>

export type CounterName = keyof typeof COUNTERS

/** Times for which objects have been late. The Monitor shows the highest value of all isolates. */
export const GAUGES = {
  usage_copy_late_seconds: {
    help: 'Time since the oldest copy of usage that failed was due; 0: none fails.',
    labels: [],
  },
  pipeline_lag_seconds: {
    help: 'Age of the last block that a pipeline delivered, if newer ones wait: the highest age, by phase. Pipelines that stop are shown for half an hour.',
    labels: ['phase'],
    known: LATE_PHASES,
  },
} as const satisfies Readonly<Record<string, Family>>
export type GaugeName = keyof typeof GAUGES

/** Values of one isolate. All numbers are sums since its last report. */
export interface CounterReport {
  readonly v: number
  /** Random id of the isolate. */
  readonly isolate: string
  /** Grows with every report. A repeated number marks a report that was possibly received before. */
  readonly number: number
  readonly sums: readonly SeriesValue[]
  readonly gauges: readonly SeriesValue[]
}

/** Monitor method for reports. */
export interface CounterSink {
  /** `everyMs`: minimum time until the isolate's next report. */
  report(report: CounterReport): Promise<{ readonly v: number; readonly everyMs: number }>
}

const GAUGE_TTL_MS = 30 * 60_000

interface Late {
  readonly series: Series
  readonly sinceMs: number
  readonly atMs: number
}

export class Counters {
  readonly #sums = new Map<Series, number>()
  readonly #late: Readonly<Record<GaugeName, Map<string, Late>>> = {
    usage_copy_late_seconds: new Map(),
    pipeline_lag_seconds: new Map(),
  }
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

  /**
   * Since when an object has been late; null: it is not. `of`: for example an account. `label`: one of the known values.
   * Only late objects are stored, so the memory is bounded by what goes wrong.
   */
  setLate(name: GaugeName, of: string, sinceMs: number | null, nowMs: number, label = ''): void {
    const { known = [] }: Family = GAUGES[name]
    if (sinceMs === null || (known.length > 0 && !known.includes(label))) this.#late[name].delete(of)
    else this.#late[name].set(of, { series: label === '' ? name : `${name}|${label}`, sinceMs, atMs: nowMs })
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

  /** Seconds, by series. A series without late objects is omitted. */
  gauges(nowMs: number): SeriesValue[] {
    const highest = new Map<Series, number>()
    for (const late of Object.values(this.#late))
      for (const [of, { series, sinceMs, atMs }] of late) {
        // An object that moved to another isolate does not take its value back.
        if (nowMs - atMs >= GAUGE_TTL_MS) late.delete(of)
        else highest.set(series, Math.max(highest.get(series) ?? 0, (nowMs - sinceMs) / 1000))
      }
    return [...highest]
  }
}

/** The counters of this isolate. */
export const counters = new Counters()
