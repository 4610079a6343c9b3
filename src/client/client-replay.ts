// A replay as users of the package see it: what was, in the shapes of what is. Who reads slowly pauses it, so that no more
// than a buffer waits.

import type { ChannelType, Replay, StreamEvent } from './api.ts'
import { EventQueue } from './event-queue.ts'
import type { Opened, Signal } from './opened.ts'
import { Played, type ReplayRange } from './played.ts'
import { refusalOf } from './refusal.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import type { SubscriptionBody } from './subscription.ts'

/** Frames: it is paused where so many wait, and goes on where few do. */
const PAUSE_AT = 2_000
const RESUME_AT = 200

export function openReplay(
  opened: Opened,
  runtime: ClientRuntime,
  endpoint: Endpoint,
  body: SubscriptionBody,
  range: ReplayRange,
  signal: Signal | undefined,
): Replay {
  let isFull = false
  let isPaused = false
  const open = opened.add((end) => {
    played.close()
    queue.end({ type: 'end', end })
  }, signal)
  // What is on its way when it is paused is bounded by what a gateway sends unread (WS-12).
  const lost: StreamEvent = { type: 'gap', gap: { from: null, to: null, reason: 'the buffer was full' } }
  const queue = new EventQueue<StreamEvent>(100 * PAUSE_AT, () => lost, open.close)
  const push = (event: StreamEvent) => {
    if (open.isOver()) return
    queue.push(event)
    if (isFull || queue.size < PAUSE_AT) return
    isFull = true
    played.steer('pause')
  }
  const next = () => {
    if (isFull && queue.size <= RESUME_AT) {
      isFull = false
      if (!isPaused && !open.isOver()) played.steer('resume')
    }
    return queue.next()
  }
  const played = new Played(runtime, endpoint, body, range, {
    live: () => push({ type: 'live' }),
    frame: (frame) => push({ type: 'data', frame }),
    missing: (from, to) => {
      const reason = to === undefined ? 'no books are known from here on' : 'not archived'
      push({ type: 'gap', gap: { from, to: to ?? null, reason } })
    },
    ended: (reason, code) =>
      open.end(reason === null ? { code: 'finished', message: 'all was played' } : refusalOf(reason, code)),
  })
  const iterator: AsyncIterableIterator<StreamEvent<ChannelType>> = {
    next,
    return: () => queue.return(),
    [Symbol.asyncIterator]: () => iterator,
  }
  return {
    pause: () => {
      isPaused = true
      played.steer('pause')
    },
    resume: () => {
      isPaused = false
      if (!isFull) played.steer('resume')
    },
    seek: (to) => played.steer('seek', to),
    close: open.close,
    [Symbol.asyncIterator]: () => iterator,
  }
}
