// A subscription: the client's request, the source that serves it, and the minutes that pay for it.

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

/** A subscribe request. */
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
  /** Market types whose snapshots were sent, with the number of minutes that were paid at that time. */
  sent?: Map<MarketType, number>
}

/**
 * Serves the bodies of one kind of channel. `Subscriptions.subscribe` calls it in this order: `validate`, `queue`,
 * `capacity`, `attach`, and after the acknowledgement `seed`.
 */
export interface SubscriptionSource<W extends Target = Target> {
  /** Brings up the links that a body needs. Returns why it cannot be served. Nothing is charged yet. */
  validate(target: W): Promise<Failure | null>
  /** Calls `begin` when it is the body's turn. If omitted, the body starts at once. */
  queue?(request: Request<W>, begin: (claim: Claim) => Promise<void>): Promise<void>
  /** Returns why no more bodies fit, or null. If omitted, there is always room. */
  capacity?(target: W): Failure | null
  /** Starts serving the subscriber. The acknowledgement follows, and sending it may end the connection. */
  attach(subscription: Subscription<W>, claim: Claim): void
  /** Sends the initial data after the acknowledgement. */
  seed?(subscription: Subscription<W>, claim: Claim): Promise<void> | void
  /** Stops serving the subscriber. */
  detach(subscription: Subscription<W>): void
  /** Resumes a subscription after its relay's hibernation. */
  resume(subscription: Subscription<W>): void
}

/** How a request gets the minute that pays for it. */
export interface Claim {
  /** Returns null if the minute was refused; the client has then been notified. */
  pay(): Promise<Minutes | null>
  /** True while the client still wants the body, so that it may be attached. */
  readonly isActive: boolean
  /** Called if the body is not attached. `minutes` are its paid minutes, if any. */
  cancel(minutes: Minutes | null): void
}

/** Ports of the relay that subscriptions use. */
export interface Ports extends FirstFramePorts, LogReplayPorts, StatePorts {
  readonly clock: Clock
  readonly waitUntil: WaitUntil
  readonly shards: number
  readonly accounts: Accounts
  readonly books: BookHubs
  /** The Durable Objects of order-level books. Null if the gateway has none. */
  readonly l4: {
    isReady(coin: Coin): Promise<boolean>
    fetch(coin: Coin, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<SnapshotText | null>
  } | null
  /** Null if there is no archive. */
  readonly archive: ArchiveReader | null
  /** Resolves when the link to the log is up; rejects if the log is unreachable. */
  ensureLog(): Promise<void>
  /** Runs work and keeps the links up meanwhile, even if no subscription needs them yet. */
  withLinks<T>(run: () => Promise<T>): Promise<T>
  /** Digest of a body's JSON. */
  digest(text: string): Promise<string>
  /** Returns a globally unique id. */
  newId(): string
  /** Whether the coin has a book; null if this is currently unknown. */
  hasBook(coin: Coin): Promise<boolean | null>
  /** Whether the archive files contain any trade of the coin. */
  hadTrades(coin: Coin): Promise<boolean>
  /** A similar coin that has a book. */
  nearestCoin(coin: Coin): Promise<string | undefined>
  /** DEXes that have coins, with `''` for the main one; empty if unknown. */
  dexes(): Promise<readonly string[]>
  /** Saves or removes a subscription across hibernation. */
  save(subscription: Subscription): void
  forget(subscription: Subscription): void
  /** An unexpected error. The connection must end. */
  onError(connection: Connection, error: unknown): void
}

/** Bodies with the same key get identical frames. */
export function topicKey({ identity, meta }: { readonly identity: string; readonly meta: boolean }): string {
  return meta ? `meta ${identity}` : identity
}
