// Measures the age of blocks at the time relays send them to clients. Each relay counts ages in buckets and reports
// them to the log about once a minute; the log aggregates them by region. Invariants (test/protocol/feed/ages.test.ts):
// a reported percentile exceeds the true value by at most one bucket, which is a tenth; memory is bounded; a relay that
// has sent no report for three minutes is excluded.

import { BoundedMap } from '../../core/bounded-map.ts'

const BUCKETS_PER_DOUBLING = 8
/** The last bucket starts near one minute and counts all higher ages. */
const LAST_BUCKET = 16 * BUCKETS_PER_DOUBLING
const REPORT_MS = 60_000
const REPORT_TTL_MS = 3 * REPORT_MS
const RELAYS_MAX = 5000

/** Number of ages in a bucket. */
export type AgeCount = readonly [bucket: number, count: number]

/** Counts of a relay since its last report. */
export interface AgeReport {
  readonly v: number
  readonly relay: string
  readonly sockets: number
  readonly subscriptions: number
  readonly counts: readonly AgeCount[]
}

export interface RegionAges {
  readonly region: string
  readonly relays: number
  readonly sockets: number
  readonly subscriptions: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Ages counted by one relay. */
export class AgeCounts {
  #counts = new Map<number, number>()
  #takenMs = 0

  /** A negative age counts as zero, because the local clock may be behind the exchange's. */
  add(ageMs: number): void {
    const bucket = Math.min(LAST_BUCKET, Math.ceil(BUCKETS_PER_DOUBLING * Math.log2(1 + Math.max(0, ageMs))))
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1)
  }

  /** Returns the counts since the last report, at most once a minute; null if there is nothing to report. */
  take(nowMs: number): AgeCount[] | null {
    if (this.#counts.size === 0 || nowMs - this.#takenMs < REPORT_MS) return null
    const counts = [...this.#counts]
    this.#counts.clear()
    this.#takenMs = nowMs
    return counts
  }
}

/** Latest reports of all relays. */
export class ReportedAges {
  readonly #newest = new BoundedMap<string, { readonly report: AgeReport; readonly atMs: number }>(RELAYS_MAX)

  record(report: AgeReport, nowMs: number): void {
    this.#newest.set(report.relay, { report, atMs: nowMs })
  }

  /** Ages by region, in alphabetical order. `regionOf` maps a relay to its region. */
  view(nowMs: number, regionOf: (relay: string) => string): RegionAges[] {
    const current = [...this.#newest.values()]
      .filter(({ atMs }) => nowMs - atMs < REPORT_TTL_MS)
      .map(({ report }) => report)
    return [...Map.groupBy(current, ({ relay }) => regionOf(relay))]
      .map(([region, reports]) => ({
        region,
        relays: reports.length,
        sockets: reports.reduce((sum, { sockets }) => sum + sockets, 0),
        subscriptions: reports.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
        ...percentiles(reports.flatMap(({ counts }) => counts)),
      }))
      .sort((a, b) => (a.region < b.region ? -1 : 1))
  }
}

function percentiles(counts: Iterable<AgeCount>): { readonly p50Ms: number; readonly p99Ms: number } {
  const byBucket = new Map<number, number>()
  for (const [bucket, count] of counts) byBucket.set(bucket, (byBucket.get(bucket) ?? 0) + count)
  const sorted = [...byBucket].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  const at = (share: number) => {
    let left = share * total
    let bucket = 0
    for (const [next, count] of sorted) {
      if (left <= 0) break
      bucket = next
      left -= count
    }
    return Math.floor(2 ** (bucket / BUCKETS_PER_DOUBLING) - 1)
  }
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}
