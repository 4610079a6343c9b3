// Finds calls in the chunks of a request log, newest first. Invariant (test/metering/request-log.test.ts): the pages of a
// search together have each matching call once, in the order of their times.

import type { LogChunks, LoggedCall } from './log-api.ts'
import { callsOf } from './log-lines.ts'

interface LogQuery {
  /** Both inclusive. */
  readonly sinceMs: number
  readonly untilMs: number
  readonly keyHash?: string | undefined
  readonly product?: string | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
  /** First digit of the status. */
  readonly statusClass?: number | undefined
}

/** Where the next page begins: after `skip` calls of this time. */
export interface LogPosition {
  readonly atMs: number
  readonly skip: number
}

interface LogPage {
  readonly calls: readonly LoggedCall[]
  readonly next: LogPosition | null
  /** Time from which on calls were searched. */
  readonly searchedMs: number
  /** Number of matching calls in the searched time, on this page and after it. */
  readonly matching: number
  /** Number of calls that the searched chunks lack, whether they match or not. */
  readonly leftOut: number
  /** Durations of the matching calls in milliseconds; null if none has a duration. */
  readonly latency: { readonly p50: number; readonly p99: number } | null
}

/** `chunks` were read from `query.sinceMs` to the position's time. */
export function searchLog(
  { chunks, restMs }: LogChunks,
  query: LogQuery,
  from: LogPosition | null,
  limit: number,
): LogPage {
  // Chunks overlap, so a later chunk may have calls up to its newest.
  const searchedMs = Math.max(query.sinceMs, restMs === null ? 0 : restMs + 1)
  const untilMs = Math.min(query.untilMs, from?.atMs ?? Number.POSITIVE_INFINITY)
  const found = chunks
    .flatMap(({ lines }) => callsOf(lines))
    .filter((call) => call.atMs >= searchedMs && call.atMs <= untilMs && matches(call, query))
    .sort((a, b) => b.atMs - a.atMs)
  const calls = found.slice(from?.skip ?? 0)
  const page = calls.slice(0, limit)
  const durations = calls.flatMap(({ ms }) => ms ?? []).sort((a, b) => a - b)
  return {
    calls: page,
    next: calls.length > limit ? positionAfter(page, from) : restMs === null ? null : { atMs: restMs, skip: 0 },
    searchedMs,
    matching: calls.length,
    leftOut: chunks
      .filter((chunk) => chunk.untilMs >= searchedMs && chunk.sinceMs <= untilMs)
      .reduce((sum, { leftOut }) => sum + leftOut, 0),
    latency: durations.length === 0 ? null : { p50: quantile(durations, 0.5), p99: quantile(durations, 0.99) },
  }
}

function matches(call: LoggedCall, { keyHash, product, type, code, statusClass }: LogQuery): boolean {
  return (
    (keyHash === undefined || call.keyHash === keyHash) &&
    (product === undefined || call.product === product) &&
    (type === undefined || call.type === type) &&
    (code === undefined || call.code === code) &&
    (statusClass === undefined || Math.floor(call.status / 100) === statusClass)
  )
}

/** `page` is not empty. */
function positionAfter(page: readonly LoggedCall[], from: LogPosition | null): LogPosition {
  const atMs = page.at(-1)?.atMs ?? 0
  const skip = page.filter((call) => call.atMs === atMs).length
  return { atMs, skip: skip + (from?.atMs === atMs ? from.skip : 0) }
}

/** Nearest rank in ascending numbers, of which there is at least one. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.ceil(ascending.length * share) - 1] ?? 0
}
