// What the log hands out a page at a time: to relays frames of events once more, to the Archiver stored segments as they lie
// there. Invariants: frames and heights follow one another without a hole; a height that the log has not, and never will have, is named
// as a gap; where the next one is neither held nor a gap a page ends, and the next one says so.

import type { ArchivePart, StoredBlocks } from '../protocol/feed/archive-api.ts'
import type { EventsResponse } from '../protocol/feed/log-api.ts'
import type { GapLookup } from './reader-link.ts'
import { type EventsSegment, ReadBudget } from './retained-fills.ts'
import { type BlockTexts, gapText } from './segment.ts'

/** A page ends with the segment in which it has so many characters. */
export const PAGE_CHARS = 512 * 1024

export interface EventsSource {
  /** Of the log, null while it is empty. */
  readonly height: number | null
  /** First stored height. */
  readonly first: number | null
  /** The stored segment that holds a height. */
  readonly segmentWith: (height: number) => EventsSegment | null
  readonly gapAt: GapLookup
  /** Blocks that wait for storage. */
  readonly waiting: readonly Pick<BlockTexts, 'height' | 'events'>[]
}

/** Frames of events from a height on, as readers without order statuses were sent them: EventsAnswer. */
export function eventsPage(
  from: number,
  held: EventsSource,
  mostChars = PAGE_CHARS,
): Pick<EventsResponse, 'frames' | 'first' | 'head'> {
  const { waiting, height: head } = held
  const first = held.first ?? waiting[0]?.height ?? null
  const frames: string[] = []
  let chars = 0
  for (let next = from; chars < mostChars; ) {
    const found = held.segmentWith(next)
    const last = found?.last ?? held.gapAt(next)
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

/** A place in the line is kept for so long beyond the time at which it was to ask again. */
const SLOT_MS = 1_000
/** More relays than there are; beyond them nobody has a place. */
const MAX_WAITING = 1_024

/**
 * Limits replays to so many characters a second. A relay that had to wait gets a page before those that came later: it is
 * served within a second for every thirty that waited before it.
 */
export class ReplayQueue {
  readonly #budget = new ReadBudget()
  /** Those who have to ask again, who waits longest first, and until when their places are kept. */
  readonly #queue = new Map<string, number>()

  /** Milliseconds until this relay is to ask again, 0 if it may be read for now. */
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

/** A page ends with the segment in which it has so many bytes: a turn of some two milliseconds. */
const PAGE_BYTES = 1024 * 1024
/** … or has so many parts. */
const MAX_PARTS = 64

export interface DurableSource {
  /** Last height that storage has confirmed. */
  readonly durable: number
  /** The stored segment that holds a height. */
  readonly blocksWith: (height: number) => StoredBlocks | null
  /** First height above this one that is stored. */
  readonly firstAbove: (height: number) => number | null
  readonly gapAt: GapLookup
}

/** What follows `from`, at most `mostBytes` and one segment more. */
export function archivePage(from: number, held: DurableSource, mostBytes = PAGE_BYTES): ArchivePart[] {
  const parts: ArchivePart[] = []
  let bytes = 0
  for (let next = from; next <= held.durable && bytes < mostBytes && parts.length < MAX_PARTS; ) {
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
function lastMissing(height: number, { gapAt, firstAbove }: DurableSource): number | null {
  const gapTo = gapAt(height)
  if (gapTo !== null) return gapTo
  const next = firstAbove(height)
  return next === null ? null : next - 1
}
