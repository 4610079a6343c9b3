// A subscription as users of the package see it: events in order, gaps among them, the end last.

import type { Gap, StreamEvent, Subscription } from './api.ts'
import type { Connection } from './connection.ts'
import { EventQueue } from './event-queue.ts'
import { refuseTwice } from './inside.ts'
import type { Opened, Signal } from './opened.ts'
import { refusalOf } from './refusal.ts'
import type { SubscriptionBody } from './subscription.ts'
import { tell } from './tell.ts'

const BUFFER = 10_000

export interface StreamOptions {
  readonly signal?: Signal | undefined
  readonly buffer?: number | undefined
  readonly fromBlock?: number | undefined
}

/** Without a listener for `for await`. */
export function openStream(
  opened: Opened,
  connection: Connection,
  body: SubscriptionBody,
  { signal, buffer = BUFFER, fromBlock }: StreamOptions,
  listener?: (event: StreamEvent) => void,
): Subscription {
  refuseTwice(connection, body)
  const gap = (reason: string, from: number | null = null): StreamEvent => ({ type: 'gap', gap: gapOf(reason, from) })
  const open = opened.add((end) => {
    leave()
    const event: StreamEvent = { type: 'end', end }
    if (listener) tell(listener, event)
    else queue.end(event)
  }, signal)
  const queue = new EventQueue<StreamEvent>(buffer, () => gap('the buffer was full'), open.close)
  const emit = (event: StreamEvent) => {
    if (open.isOver()) return
    if (listener) tell(listener, event)
    else queue.push(event)
  }
  const leave = connection.subscribe(
    body,
    {
      live: () => emit({ type: 'live' }),
      lost: (reason, from) => emit(gap(reason, from)),
      frame: (frame) => emit({ type: 'data', frame }),
      refused: (reason, code) => open.end(refusalOf(reason, code)),
    },
    fromBlock,
  )
  return {
    get height() {
      return connection.heightOf(body)
    },
    close: open.close,
    [Symbol.asyncIterator]: () => queue,
  }
}

/** The gateway names the blocks that are missing, or the first of them. */
function gapOf(reason: string, known: number | null): Gap {
  const [, from, to] = /\bblocks? (\d{1,15})(?: to (\d{1,15}))?/i.exec(reason) ?? []
  return { from: from === undefined ? known : Number(from), to: to === undefined ? null : Number(to), reason }
}
