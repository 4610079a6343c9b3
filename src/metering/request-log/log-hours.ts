// Calls of a request log by hour. Invariants (test/metering/request-log.test.ts): each call is counted once, however the log
// is divided into pages and chunks; so is each call that the log lacks.

import { HOUR_MS } from '../../core/time.ts'
import type { LogChunks, LoggedCall } from './log-api.ts'
import { callsOf } from './log-lines.ts'
import { quantile } from './log-search.ts'

export interface LogHour {
  /** Start of the hour, Unix ms. */
  readonly atMs: number
  /** Answered, rejected (4xx) and failed (5xx) calls in the log. */
  readonly ok: number
  readonly refused: number
  readonly failed: number
  /** Calls that the log lacks. A part of the log counts those that it lacks in the hour of its newest call. */
  readonly leftOut: number
  readonly latency: Latency | null
}

/** Milliseconds. */
interface Latency {
  readonly p50: number
  readonly p99: number
}

type Outcome = 'ok' | 'refused' | 'failed'
const SERVER_ERRORS = 500

interface Sums extends Record<Outcome, number> {
  leftOut: number
  durations: number[]
}

export class LogHours {
  readonly #firstMs: number
  readonly #hours: Sums[]
  /** Everything from here on was counted. */
  sinceMs = Number.POSITIVE_INFINITY

  /** The `count` hours up to that of `nowMs`. */
  constructor(nowMs: number, count: number) {
    this.#firstMs = (Math.floor(nowMs / HOUR_MS) - count + 1) * HOUR_MS
    this.#hours = Array.from({ length: count }, () => ({ ok: 0, refused: 0, failed: 0, leftOut: 0, durations: [] }))
  }

  get firstMs(): number {
    return this.#firstMs
  }

  /** A page of the log, which was read up to `untilMs`. */
  add({ chunks, restMs }: LogChunks, untilMs: number): void {
    // Chunks overlap, so a later chunk may have calls up to its newest.
    this.sinceMs = Math.max(this.#firstMs, restMs === null ? 0 : restMs + 1)
    const isOfPage = (ms: number) => ms >= this.sinceMs && ms <= untilMs
    for (const chunk of chunks) {
      for (const call of callsOf(chunk.lines)) if (isOfPage(call.atMs)) this.#count(call)
      const sums = isOfPage(chunk.untilMs) && this.#hour(chunk.untilMs)
      if (sums) sums.leftOut += chunk.leftOut
    }
  }

  /** Events of sockets count only if they are errors. */
  #count({ atMs, status, code, ms }: LoggedCall): void {
    const sums = this.#hour(atMs)
    if (sums === undefined || (ms === null && code === '')) return
    sums[code === '' ? 'ok' : status >= SERVER_ERRORS ? 'failed' : 'refused']++
    if (ms !== null) sums.durations.push(ms)
  }

  #hour(atMs: number): Sums | undefined {
    return this.#hours[Math.floor((atMs - this.#firstMs) / HOUR_MS)]
  }

  /** Oldest first, hours without calls included. */
  get hours(): readonly LogHour[] {
    return this.#hours.map(({ durations, ...sums }, i) => ({
      atMs: this.#firstMs + i * HOUR_MS,
      ...sums,
      latency: latencyOf(durations),
    }))
  }

  /** Durations of the calls of all hours. */
  get latency(): Latency | null {
    return latencyOf(this.#hours.flatMap(({ durations }) => durations))
  }
}

function latencyOf(durations: readonly number[]): Latency | null {
  if (durations.length === 0) return null
  const ascending = durations.toSorted((a, b) => a - b)
  return { p50: quantile(ascending, 0.5), p99: quantile(ascending, 0.99) }
}
