// How old blocks are when relays send them to clients. A relay counts ages in buckets, tells the log about once a minute,
// and the log adds up what the relays of a region counted. Laws (test/protocol/feed/ages.test.ts): a percentile is at most a
// bucket, a tenth, above the true one; what is held is bounded; who has said nothing for three minutes is left out.

import { BoundedMap } from '../../core/bounded-map.ts'

const BUCKETS_PER_DOUBLING = 8
/** The last one begins near a minute and has all that is older. */
const LAST_BUCKET = 16 * BUCKETS_PER_DOUBLING
const REPORT_MS = 60_000
const REPORT_TTL_MS = 3 * REPORT_MS
const RELAYS_MAX = 5000

/** How many ages fell into a bucket. */
export type AgeCount = readonly [bucket: number, count: number]

/** What a relay counted since its last report. */
export interface AgeReport {
  readonly v: number
  readonly relay: string
  readonly sockets: number
  readonly counts: readonly AgeCount[]
}

export interface RegionAges {
  readonly region: string
  readonly relays: number
  readonly sockets: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The ages that a relay counts. */
export class AgeCounts {
  #counts = new Map<number, number>()
  #takenMs = 0

  /** An age below zero, where the clock here is behind the exchange's, counts as zero. */
  add(ageMs: number): void {
    const bucket = Math.min(LAST_BUCKET, Math.ceil(BUCKETS_PER_DOUBLING * Math.log2(1 + Math.max(0, ageMs))))
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1)
  }

  /** What was counted, once a minute; null where there is nothing to tell now. */
  take(nowMs: number): AgeCount[] | null {
    if (this.#counts.size === 0 || nowMs - this.#takenMs < REPORT_MS) return null
    const counts = [...this.#counts]
    this.#counts.clear()
    this.#takenMs = nowMs
    return counts
  }
}

/** What the relays of all regions told last. */
export class ReportedAges {
  readonly #newest = new BoundedMap<string, { readonly report: AgeReport; readonly atMs: number }>(RELAYS_MAX)

  record(report: AgeReport, nowMs: number): void {
    this.#newest.set(report.relay, { report, atMs: nowMs })
  }

  /** By region, in the order of names; `regionOf` is asked for the region of a relay. */
  view(nowMs: number, regionOf: (relay: string) => string): RegionAges[] {
    const heard = [...this.#newest.values()]
      .filter(({ atMs }) => nowMs - atMs < REPORT_TTL_MS)
      .map(({ report }) => report)
    return [...Map.groupBy(heard, ({ relay }) => regionOf(relay))]
      .map(([region, reports]) => ({
        region,
        relays: reports.length,
        sockets: reports.reduce((sum, { sockets }) => sum + sockets, 0),
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
