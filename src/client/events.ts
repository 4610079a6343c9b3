// Subscriptions to events. Interruptions of up to five minutes lose none (WS-23); `lost` says that events before the next
// `live` are missing.

import type { Connection } from './connection.ts'
import { allFillsBody } from './subscription.ts'
import type { ChannelTypes } from './wire.ts'

/** As frames show it. */
export type ShownFill = ChannelTypes['allFills']['frame']['fills'][number][1]

export interface EventListener<T> {
  event(user: string, event: T): void
  live?(): void
  lost?(reason: string): void
  refused?(reason: string): void
}

/** Fills of everyone on one coin, or (null) on all; the answer unsubscribes. */
export function onAllFills(
  connection: Connection,
  coin: string | null,
  listener: EventListener<ShownFill>,
): () => void {
  return connection.subscribe(allFillsBody(coin), {
    live: () => listener.live?.(),
    lost: (reason) => listener.lost?.(reason),
    refused: (reason) => listener.refused?.(reason),
    frame: (frame) => {
      if (frame.channel !== 'allFills') return
      for (const [user, fill] of frame.fills) if (coin === null || fill.coin === coin) listener.event(user, fill)
    },
  })
}
