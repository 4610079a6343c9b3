// A subscription: what a client asked for, the source that serves it, and the minutes that pay for it.

import type { ArchiveReader } from '../../archive/archive/archive-read.ts'
import type { Coin, MarketType } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import type { BookHubs } from '../books/snapshots.ts'
import type { L4Channel, Target } from '../channel.ts'
import type { FirstFramePorts } from '../events/first-frames.ts'
import type { LogReplayPorts } from '../events/log-replays.ts'
import type { SnapshotText } from '../l4/snapshot-queue.ts'
import type { Accounts } from '../minutes/account.ts'
import type { Minutes } from '../minutes/minutes.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import type { StatePorts } from '../states/state-fanout.ts'

/** A body as a socket asked for it. */
export interface Request<W extends Target = Target> {
  readonly connection: Connection
  readonly identity: string
  /** JSON of the body as sent. */
  readonly echo: string
  readonly target: W
  readonly source: SubscriptionSource
  readonly meta: boolean
  readonly fromBlock: number | undefined
}

export interface Subscription<W extends Target = Target> extends Request<W> {
  readonly minutes: Minutes
  /** Market types of which Snapshots were sent, with the number of minutes paid by then. */
  sent?: Map<MarketType, number>
}

/**
 * What serves the bodies of one kind of channel. `Subscriptions.subscribe` calls it in this order: `validate`, `queue`,
 * `capacity`, `attach`, and after the acknowledgement `seed`.
 */
export interface SubscriptionSource<W extends Target = Target> {
  /** Brings up the links that a body needs. The answer says why it cannot be served; nothing was charged by then. */
  validate(target: W): Promise<Failure | null>
  /** Calls `begin` when the body's turn has come. Left out: at once. */
  queue?(request: Request<W>, begin: (claim: Claim) => Promise<void>): Promise<void>
  /** Why no more of such bodies begin; null where there is room. Left out: there always is. */
  capacity?(target: W): Failure | null
  /** The subscriber is served from now on. It is acknowledged next, which may end its connection. */
  attach(subscription: Subscription<W>, claim: Claim): void
  /** It was acknowledged: what it is first to be sent may go out. */
  seed?(subscription: Subscription<W>, claim: Claim): Promise<void> | void
  /** The subscriber is served no more. */
  detach(subscription: Subscription<W>): void
  /** Takes up a subscription that slept with its relay. */
  resume(subscription: Subscription<W>): void
}

/** How a request comes to the minute that it is charged. */
export interface Claim {
  /** Null, and the client was told, where it was refused. */
  pay(): Promise<Minutes | null>
  /** True while the body is still wanted, so that it may be attached. */
  readonly isActive: boolean
  /** It is not attached; `minutes` were paid. */
  cancel(minutes: Minutes | null): void
}

/** What subscriptions need of their relay. */
export interface Ports extends FirstFramePorts, LogReplayPorts, StatePorts {
  readonly clock: Clock
  readonly waitUntil: WaitUntil
  readonly shards: number
  readonly accounts: Accounts
  readonly books: BookHubs
  /** The objects of order-level books. */
  readonly l4: {
    isReady(coin: Coin): Promise<boolean>
    fetch(coin: Coin, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<SnapshotText | null>
  }
  /** Null where nothing is archived. */
  readonly archive: ArchiveReader | null
  /** Resolves when the link to the log is up; rejects where it cannot be reached now. */
  ensureLog(): Promise<void>
  /** Runs work during which links stay up that no subscription names yet. */
  withLinks<T>(run: () => Promise<T>): Promise<T>
  /** Digest of a body's text. */
  digest(text: string): Promise<string>
  /** Unique for ever. */
  newId(): string
  /** Whether this coin has a book; null where nobody can tell now. */
  hasBook(coin: Coin): Promise<boolean | null>
  /** Whether files have any trade of a coin. */
  hadTrades(coin: Coin): Promise<boolean>
  /** The coin that was probably meant by one that has no book. */
  nearestCoin(coin: Coin): Promise<string | undefined>
  /** The DEXes that have coins, `''` being the main one; none where it cannot be said. */
  dexes(): Promise<readonly string[]>
  /** Remembers or forgets a subscription across hibernation. */
  save(subscription: Subscription): void
  forget(subscription: Subscription): void
  /** Something went wrong that must not: the connection is to end. */
  onError(connection: Connection, error: unknown): void
}

/** Bodies that get the very same frames. */
export function topicKey({ identity, meta }: { readonly identity: string; readonly meta: boolean }): string {
  return meta ? `meta ${identity}` : identity
}
