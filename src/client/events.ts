// Subscriptions to events: fills of wallets or of everyone, and ledger updates. Live only; `lost` says
// that events between there and the next `live` were missed.

import type { Fill } from '../feed/block.ts'
import type { Connection } from './connection.ts'
import type { DataFrame } from './server-frame.ts'
import { allFillsBody, ledgerBody, type SubscriptionBody, userFillsBody } from './subscription.ts'

export interface EventListener<T> {
  event(user: string, event: T): void
  live?(): void
  lost?(reason: string): void
  refused?(reason: string): void
}

export interface LedgerUpdate {
  readonly time: number
  readonly hash: string
  readonly delta: { readonly type: string; readonly [key: string]: unknown }
}

/** Fills of up to 1,000 wallets; the answer unsubscribes. */
export function onUserFills(
  connection: Connection,
  addresses: readonly string[],
  listener: EventListener<Fill>,
): () => void {
  const wanted = new Set(addresses)
  return follow(connection, userFillsBody(addresses), listener, (frame) => {
    if (frame.channel !== 'userFills') return
    for (const [user, fill] of frame.fills) if (wanted.has(user)) listener.event(user, fill)
  })
}

/** Fills of everyone on one coin, or (null) on all; the answer unsubscribes. */
export function onAllFills(connection: Connection, coin: string | null, listener: EventListener<Fill>): () => void {
  return follow(connection, allFillsBody(coin), listener, (frame) => {
    if (frame.channel !== 'allFills') return
    for (const [user, fill] of frame.fills) if (coin === null || fill.coin === coin) listener.event(user, fill)
  })
}

/** Balance movements of up to 1,000 wallets; the answer unsubscribes. */
export function onLedger(
  connection: Connection,
  addresses: readonly string[],
  listener: EventListener<LedgerUpdate>,
): () => void {
  const wanted = new Set(addresses)
  return follow(connection, ledgerBody(addresses), listener, (frame) => {
    if (frame.channel !== 'userNonFundingLedgerUpdates' || !wanted.has(frame.data.user)) return
    for (const update of frame.data.nonFundingLedgerUpdates) listener.event(frame.data.user, update)
  })
}

function follow(
  connection: Connection,
  body: SubscriptionBody,
  listener: EventListener<never>,
  frame: (frame: DataFrame) => void,
): () => void {
  return connection.subscribe(body, {
    live: () => listener.live?.(),
    lost: (reason) => listener.lost?.(reason),
    refused: (reason) => listener.refused?.(reason),
    frame,
  })
}
