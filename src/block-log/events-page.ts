// What the log tells once more of events: the frames from a height on, a page at a time. Law: frames follow one another
// without a hole; where the next height is neither held nor a recorded gap, a page ends, and the next one says so.

import type { EventsAnswer } from '../protocol/feed/log-api.ts'
import type { EventsSegment } from './held-fills.ts'
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
    const gapTo = found ? null : held.gapAt(next)
    if (!found && gapTo === null) {
      const rest = waiting.filter(({ height }) => height >= next)
      const isNext = rest[0]?.height === next
      if (isNext) frames.push(...rest.map(({ events }) => events))
      return { frames: isNext || frames.length > 0 || next > (head ?? -1) ? frames : null, first, head }
    }
    const texts = found?.text.split('\n') ?? [gapText(next, gapTo!)]
    frames.push(...texts)
    for (const text of texts) chars += text.length
    next = (found?.last ?? gapTo!) + 1
  }
  return { frames, first, head }
}
