// What the log tells once more of events: the frames from a height on, a page at a time. Law: frames follow one another
// without a hole; where the next height is neither held nor a recorded gap, a page ends, and the next one says so.

import type { EventsAnswer } from '../protocol/feed/log-api.ts'
import { type EventsSegment, ReadBudget } from './held-fills.ts'
import type { GapAt } from './reader-link.ts'
import { type BlockTexts, gapText } from './segment.ts'

/** A page ends with the segment in which it has so many characters. */
export const PAGE_CHARS = 512 * 1024

export interface HeldEvents {
  /** Of the log, null while it is empty. */
  readonly height: number | null
  /** First stored height. */
  readonly first: number | null
  /** The stored segment that holds a height. */
  readonly segmentWith: (height: number) => EventsSegment | null
  readonly gapAt: GapAt
  /** Blocks that wait for storage. */
  readonly waiting: readonly Pick<BlockTexts, 'height' | 'events'>[]
}

/** Frames of events from a height on, as readers without order statuses were sent them: EventsAnswer. */
export function eventsPage(
  from: number,
  held: HeldEvents,
  mostChars = PAGE_CHARS,
): Pick<EventsAnswer, 'frames' | 'first' | 'head'> {
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
const KEPT_MS = 1_000
/** More relays than there are; beyond them nobody has a place. */
const MOST_WAITING = 1_024

/**
 * Limits replays to so many characters a second. A relay that had to wait gets a page before those that came later: it is
 * served within a second for every thirty that waited before it.
 */
export class ReplayTurns {
  readonly #budget = new ReadBudget()
  /** Those who have to ask again, who waits longest first, and until when their places are kept. */
  readonly #line = new Map<string, number>()

  /** Milliseconds until this relay is to ask again, 0 if it may be read for now. */
  waitMs(relay: string, nowMs: number): number {
    for (const [one, untilMs] of this.#line) if (untilMs < nowMs) this.#line.delete(one)
    const places = [...this.#line.keys()]
    const before = places.includes(relay) ? places.indexOf(relay) : places.length
    const waitMs = this.#budget.waitMs(nowMs, before * PAGE_CHARS)
    if (waitMs === 0) this.#line.delete(relay)
    else if (before < MOST_WAITING) this.#line.set(relay, nowMs + waitMs + KEPT_MS)
    return waitMs
  }

  spend(chars: number, nowMs: number): void {
    this.#budget.spend(chars, nowMs)
  }
}
