// The newest part of an account's request log, which the meter rewrites with its balance. Invariants
// (test/metering/request-log.test.ts): the calls in all chunks and those that they left out add up to the calls that were
// reported, however often a batch is repeated; the bytes that are kept grow no faster than the rates below; failed calls
// displace no answered ones.

import { type Bucket, fullBucket, type Rate, takeTokens, wholeTokens } from '../../core/token-bucket.ts'
import type { LogBatch, LogChunk, LoggedCall } from './log-api.ts'
import { lineOf, linesSince } from './log-lines.ts'

/** Bytes of an account: about two answered calls per second, after a burst of some thousand. */
const ANSWERED_BYTES: Rate = { perSecond: 64, burst: 256 * 1024 }
const FAILED_BYTES: Rate = { perSecond: 16, burst: 64 * 1024 }
/** A longer tail becomes a chunk. Chunks cost a row each, and every report writes the tail. */
const CHUNK_BYTES = 24 * 1024
/** Sources whose batches are recognized when they are repeated. A batch is repeated at the next report of its source. */
const SOURCES_MAX = 128

export interface LogTail extends LogChunk {
  /** Number of the last batch by source. The source that was heard last is at the end. */
  readonly sources: readonly (readonly [source: string, number: number])[]
  readonly answered: Bucket
  readonly failed: Bucket
}

const EMPTY = { sinceMs: Number.POSITIVE_INFINITY, untilMs: 0, leftOut: 0, lines: '' } as const

export const emptyTail = (nowMs: number): LogTail => ({
  ...EMPTY,
  sources: [],
  answered: fullBucket(ANSWERED_BYTES, nowMs),
  failed: fullBucket(FAILED_BYTES, nowMs),
})

/** The sources with that of a batch at the end; null: the batch is a repeated one. */
export function withSource(sources: LogTail['sources'], { source, number }: LogBatch): LogTail['sources'] | null {
  const known = sources.find(([name]) => name === source)
  if (known !== undefined && known[1] >= number) return null
  return [...sources.filter((one) => one !== known), [source, number] as const].slice(-SOURCES_MAX)
}

/** The tail with the calls of a batch, as many as its account may keep. A batch that it has changes nothing. */
export function withBatch(tail: LogTail, batch: LogBatch, nowMs: number): LogTail {
  const { calls, rows } = batch
  const sources = withSource(tail.sources, batch)
  if (sources === null) return tail
  const answered = fitted(
    rows.filter(({ code }) => code === ''),
    takeTokens(tail.answered, ANSWERED_BYTES, 0, nowMs).bucket,
  )
  const failed = fitted(
    rows.filter(({ code }) => code !== ''),
    takeTokens(tail.failed, FAILED_BYTES, 0, nowMs).bucket,
  )
  const times = rows.length === 0 ? [nowMs] : rows.map(({ atMs }) => atMs)
  return {
    sinceMs: Math.min(tail.sinceMs, ...times),
    untilMs: Math.max(tail.untilMs, ...times),
    leftOut: tail.leftOut + calls - answered.count - failed.count,
    lines: tail.lines + answered.lines + failed.lines,
    sources,
    answered: answered.bucket,
    failed: failed.bucket,
  }
}

interface Fitted {
  readonly lines: string
  readonly count: number
  readonly bucket: Bucket
}

/** The lines of as many calls as the bucket has bytes for. */
function fitted(calls: readonly LoggedCall[], bucket: Bucket): Fitted {
  let all: Fitted = { lines: '', count: 0, bucket }
  for (const ofKey of Map.groupBy(calls, ({ keyHash }) => keyHash).values()) {
    const { lines, count, bucket } = fittedLine(ofKey, all.bucket)
    all = { lines: all.lines + lines, count: all.count + count, bucket }
  }
  return all
}

/** The same of calls of one key, evenly chosen. */
function fittedLine(calls: readonly LoggedCall[], bucket: Bucket): Fitted {
  const bytes = Math.max(0, wholeTokens(bucket))
  let some = calls
  while (some.length > 0) {
    const line = lineOf(some)
    if (line.length <= bytes)
      return {
        lines: line,
        count: some.length,
        bucket: { ...bucket, milliTokens: bucket.milliTokens - line.length * 1_000 },
      }
    some = evenly(some, Math.min(some.length - 1, Math.floor((some.length * bytes) / line.length)))
  }
  return { lines: '', count: 0, bucket }
}

/** `count` of the items, at even distances. */
function evenly<T>(items: readonly T[], count: number): readonly T[] {
  const before = (at: number) => Math.floor((at * count) / items.length)
  return items.filter((_, at) => before(at + 1) > before(at))
}

/** Splits a tail that is long enough: its calls as a chunk, and the rest. */
export function splitTail(tail: LogTail): { readonly tail: LogTail; readonly chunk: LogChunk | null } {
  if (tail.lines.length < CHUNK_BYTES) return { tail, chunk: null }
  const { sinceMs, untilMs, leftOut, lines } = tail
  return { tail: { ...tail, ...EMPTY }, chunk: { sinceMs, untilMs, leftOut, lines } }
}

/** The tail without lines that ended before `sinceMs`. */
export function trimTail(tail: LogTail, sinceMs: number): LogTail {
  if (tail.sinceMs >= sinceMs) return tail
  return tail.untilMs < sinceMs ? { ...tail, ...EMPTY } : { ...tail, ...linesSince(tail.lines, sinceMs) }
}

/** Text of the tail: its lines after a line with the rest. */
export function tailText({ lines, sinceMs, ...head }: LogTail): string {
  return `${JSON.stringify({ ...head, sinceMs: Number.isFinite(sinceMs) ? sinceMs : null })}\n${lines}`
}

export function readTail(text: string): LogTail {
  const end = text.indexOf('\n')
  const { sinceMs, ...head } = JSON.parse(text.slice(0, end))
  return { ...head, sinceMs: sinceMs ?? EMPTY.sinceMs, lines: text.slice(end + 1) }
}
