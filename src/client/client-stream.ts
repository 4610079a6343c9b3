// Subscriptions and replays in the form that users of the package see: events in order, with gaps, and the end as the
// last event. If a reader is slow, its replay is paused, so that only a limited number of frames is queued.

import type { ChannelType, Gap, Replay, StreamEvent, Subscription } from './api.ts'
import type { Connection } from './connection.ts'
import { EventQueue } from './event-queue.ts'
import { type OpenHandles, rejectDuplicate, type Signal, safeCall } from './internals.ts'
import { ReplaySession } from './replay-session.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import type { ReplayRange, SubscriptionBody } from './subscription.ts'
import { refusalOf } from './weir-error.ts'

const DEFAULT_BUFFER = 10_000

export interface StreamOptions {
  readonly signal?: Signal | undefined
  readonly buffer?: number | undefined
  readonly fromBlock?: number | undefined
}

/** Opens a stream for a listener. Without a listener, it is for `for await`. */
export function openStream(
  opened: OpenHandles,
  connection: Connection,
  body: SubscriptionBody,
  { signal, buffer = DEFAULT_BUFFER, fromBlock }: StreamOptions,
  listener?: (event: StreamEvent) => void,
): Subscription {
  rejectDuplicate(connection, body)
  const gap = (reason: string, from: number | null = null): StreamEvent => ({ type: 'gap', gap: gapOf(reason, from) })
  const open = opened.add((end) => {
    unsubscribe()
    const event: StreamEvent = { type: 'end', end }
    if (listener) safeCall(listener, event)
    else queue.end(event)
  }, signal)
  const queue = new EventQueue<StreamEvent>(buffer, () => gap('the buffer was full'), open.close)
  const emit = (event: StreamEvent) => {
    if (open.isEnded()) return
    if (listener) safeCall(listener, event)
    else queue.push(event)
  }
  const unsubscribe = connection.subscribe(
    body,
    {
      live: () => emit({ type: 'live' }),
      lost: (reason, from) => emit(gap(reason, from)),
      frame: (frame) => emit({ type: 'data', frame }),
      refused: (reason, code) => open.end(refusalOf(reason, code)),
    },
    { fromBlock },
  )
  return {
    get height() {
      return connection.heightOf(body)
    },
    close: open.close,
    [Symbol.asyncIterator]: () => queue,
  }
}

/** Parses the missing blocks from the gateway's message: a range, or only its first block. */
function gapOf(reason: string, known: number | null): Gap {
  const [, from, to] = /\bblocks? (\d{1,15})(?: to (\d{1,15}))?/i.exec(reason) ?? []
  return { from: from === undefined ? known : Number(from), to: to === undefined ? null : Number(to), reason }
}

/** Numbers of queued frames at which a replay is paused and resumed. */
const PAUSE_AT = 2_000
const RESUME_AT = 200

export function openReplay(
  opened: OpenHandles,
  runtime: ClientRuntime,
  endpoint: Endpoint,
  body: SubscriptionBody,
  range: ReplayRange,
  signal: Signal | undefined,
): Replay {
  let isFull = false
  let isPaused = false
  const open = opened.add((end) => {
    session.close()
    queue.end({ type: 'end', end })
  }, signal)
  // When a replay is paused, the amount of data still in flight is bounded by the gateway's limit on unread data
  // (WS-12).
  const lost: StreamEvent = { type: 'gap', gap: { from: null, to: null, reason: 'the buffer was full' } }
  const queue = new EventQueue<StreamEvent>(100 * PAUSE_AT, () => lost, open.close)
  const push = (event: StreamEvent) => {
    if (open.isEnded()) return
    queue.push(event)
    if (isFull || queue.size < PAUSE_AT) return
    isFull = true
    session.control('pause')
  }
  const next = () => {
    if (isFull && queue.size <= RESUME_AT) {
      isFull = false
      if (!isPaused && !open.isEnded()) session.control('resume')
    }
    return queue.next()
  }
  const session = new ReplaySession(runtime, endpoint, body, range, {
    live: () => push({ type: 'live' }),
    frame: (frame) => push({ type: 'data', frame }),
    missing: (from, to) => {
      const reason = to === undefined ? 'no books are archived from here on' : 'not archived'
      push({ type: 'gap', gap: { from, to: to ?? null, reason } })
    },
    ended: (reason, code) =>
      open.end(reason === null ? { code: 'finished', message: 'the replay finished' } : refusalOf(reason, code)),
  })
  const iterator: AsyncIterableIterator<StreamEvent<ChannelType>> = {
    next,
    return: () => queue.return(),
    [Symbol.asyncIterator]: () => iterator,
  }
  return {
    pause: () => {
      isPaused = true
      session.control('pause')
    },
    resume: () => {
      isPaused = false
      if (!isFull) session.control('resume')
    },
    seek: (to) => session.control('seek', to),
    close: open.close,
    [Symbol.asyncIterator]: () => iterator,
  }
}
