// What the log hands its Archiver at once: stored segments as they lie there, from a height on, durable ones alone. Law:
// heights follow one another; those that the log has not, and never will have, are named as a gap.

import type { ArchivePart, StoredBlocks } from '../protocol/feed/archive-api.ts'
import type { GapAt } from './reader-link.ts'

/** A page ends with the segment in which it has so many bytes: a turn of some two milliseconds. */
const PAGE_BYTES = 1024 * 1024
/** … or has so many parts. */
const PARTS_MOST = 64

export interface DurableBlocks {
  /** Last height that storage has confirmed. */
  readonly durable: number
  /** The stored segment that holds a height. */
  readonly blocksWith: (height: number) => StoredBlocks | null
  /** First height above this one that is stored. */
  readonly firstAbove: (height: number) => number | null
  readonly gapAt: GapAt
}

/** What follows `from`, at most `mostBytes` and one segment more. */
export function archivePage(from: number, held: DurableBlocks, mostBytes = PAGE_BYTES): ArchivePart[] {
  const parts: ArchivePart[] = []
  let bytes = 0
  for (let next = from; next <= held.durable && bytes < mostBytes && parts.length < PARTS_MOST; ) {
    const found = held.blocksWith(next)
    const last = found ? found.last : lastMissing(next, held)
    if (last === null || last > held.durable) break
    parts.push(found ?? { gap: { from: next, to: last } })
    const { books = [], events = [], payments = [] } = found ?? {}
    for (const piece of [...books, ...events, ...payments]) bytes += piece.byteLength
    next = last + 1
  }
  return parts
}

/** The log began above, or has let go of what it could not keep. */
function lastMissing(height: number, { gapAt, firstAbove }: DurableBlocks): number | null {
  const gapTo = gapAt(height)
  if (gapTo !== null) return gapTo
  const next = firstAbove(height)
  return next === null ? null : next - 1
}
