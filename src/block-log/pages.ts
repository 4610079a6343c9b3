// Pages of the log: frames of events for relays, and stored segments for the Archiver. Invariants: a page skips no
// height; a height that the log will never have is part of a gap in the page; a page ends before the first height that
// is neither stored nor in a gap, and the next page reports that height.

import type { ArchivePart, StoredBlocks } from '../protocol/feed/archive-api.ts'
import type { EventsResponse } from '../protocol/feed/log-api.ts'
import type { GapLookup } from './reader-link.ts'
import { type EventsSegment, ReadBudget } from './retained-fills.ts'
import { type BlockTexts, gapText } from './segment.ts'

/** A page ends with the segment that brings its length to this number of characters. */
export const PAGE_CHARS = 512 * 1024

export interface EventsSource {
  /** Last height of the log; null while the log is empty. */
  readonly height: number | null
  /** First stored height; null if there is none. */
  readonly first: number | null
  /** The stored segment that contains a height. */
  readonly segmentWith: (height: number) => EventsSegment | null
  readonly gapAt: GapLookup
  /** Blocks that are not stored yet. */
  readonly waiting: readonly Pick<BlockTexts, 'height' | 'events'>[]
}

/** Returns frames of events from a height onward, without order statuses. See EventsResponse. */
export function eventsPage(
  from: number,
  source: EventsSource,
  maxChars = PAGE_CHARS,
): Pick<EventsResponse, 'frames' | 'first' | 'head'> {
  const { waiting, height: head } = source
  const first = source.first ?? waiting[0]?.height ?? null
  const frames: string[] = []
  let chars = 0
  for (let next = from; chars < maxChars; ) {
    const found = source.segmentWith(next)
    const last = found?.last ?? source.gapAt(next)
    if (last === null) {
      const rest = waiting.filter(({ height }) => height >= next)
      const isNext = rest[0]?.height === next
      if (isNext) frames.push(...rest.map(({ events }) => events))
      return { frames: isNext || frames.length > 0 || next > (head ?? -1) ? frames : null, first, head }
    }
    const texts = found?.text.split('\n') ?? [gapText(next, last)]
    frames.push(...texts)
    for (const text of texts) chars += text.length
    next = last + 1
  }
  return { frames, first, head }
}

/** After the time at which a relay should have asked again, it keeps its place in the queue for this long. */
const SLOT_MS = 1_000
/** Maximum number of places in the queue, which is more than there are relays. A relay beyond it gets no place. */
const MAX_WAITING = 1_024

/**
 * Limits replays to a number of characters per second. A relay that had to wait is served before relays that came
 * later. It waits one second for every thirty relays ahead of it.
 */
export class ReplayQueue {
  readonly #budget = new ReadBudget()
  /** Relays that have to ask again, in order of arrival, each with the time until which it keeps its place. */
  readonly #queue = new Map<string, number>()

  /** Milliseconds until this relay may ask again; 0 if it may read now. */
  waitMs(relay: string, nowMs: number): number {
    for (const [one, untilMs] of this.#queue) if (untilMs < nowMs) this.#queue.delete(one)
    const places = [...this.#queue.keys()]
    const before = places.includes(relay) ? places.indexOf(relay) : places.length
    const waitMs = this.#budget.waitMs(nowMs, before * PAGE_CHARS)
    if (waitMs === 0) this.#queue.delete(relay)
    else if (before < MAX_WAITING) this.#queue.set(relay, nowMs + waitMs + SLOT_MS)
    return waitMs
  }

  spend(chars: number, nowMs: number): void {
    this.#budget.spend(chars, nowMs)
  }
}

/** A page ends with the segment that brings its size to this number of bytes. Reading a page takes about 2 ms. */
const PAGE_BYTES = 1024 * 1024
/** Maximum number of parts in a page. */
const MAX_PARTS = 64

export interface DurableSource {
  /** Last height that storage has confirmed. */
  readonly durable: number
  /** The stored segment that contains a height. */
  readonly blocksWith: (height: number) => StoredBlocks | null
  /** First stored height above this one. */
  readonly firstAbove: (height: number) => number | null
  readonly gapAt: GapLookup
}

/** Returns parts from height `from` onward. Their size exceeds `maxBytes` by at most one segment. */
export function archivePage(from: number, source: DurableSource, maxBytes = PAGE_BYTES): ArchivePart[] {
  const parts: ArchivePart[] = []
  let bytes = 0
  for (let next = from; next <= source.durable && bytes < maxBytes && parts.length < MAX_PARTS; ) {
    const found = source.blocksWith(next)
    const last = found ? found.last : lastMissing(next, source)
    if (last === null || last > source.durable) break
    parts.push(found ?? { gap: { from: next, to: last } })
    const { books = [], events = [], payments = [], replica = [] } = found ?? {}
    for (const piece of [...books, ...events, ...payments, ...replica]) bytes += piece.byteLength
    next = last + 1
  }
  return parts
}

/**
 * The last height of the missing range that contains `height`: a gap, or heights that the log never had or has dropped.
 */
function lastMissing(height: number, { gapAt, firstAbove }: DurableSource): number | null {
  const gapTo = gapAt(height)
  if (gapTo !== null) return gapTo
  const next = firstAbove(height)
  return next === null ? null : next - 1
}
