// Subscriptions to a coin's individual orders. Invariant: a subscriber is charged and acknowledged, then waits for its
// snapshot while its minute is paused. If no snapshot arrives in time, the subscriber is notified, unsubscribed and
// refunded.

import { backoffMs } from '../../core/backoff.ts'
import type { Coin } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { SingleFlights } from '../../core/single-flight.ts'
import { L4_COINS_MAX } from '../../protocol/feed/protocol.ts'
import { refusedSubscription } from '../../protocol/relay/failure-frame.ts'
import { waitingForSnapshot } from '../../protocol/relay/frames.ts'
import type { L4Channel, L4Target } from '../channel.ts'
import type { L4Fanout } from '../l4/l4-fanout.ts'
import { SnapshotQueue, type SnapshotWaiter } from '../l4/snapshot-queue.ts'
import { pauseMinute, resumeMinute } from '../minutes/minutes.ts'
import type { Connection } from '../sockets/connection.ts'
import { BOOK_LIMIT_REACHED, NO_ORDER_BOOKS, NOT_READY, noSuchBook } from './refusals.ts'
import type { SubscriptionRegistry } from './registry.ts'
import type { Ports, Subscription, SubscriptionSource } from './subscription.ts'

/**
 * Maximum wait for a snapshot. A node writes its books within a few seconds, and large books are sent one at a time.
 */
export const MAX_WAIT_MS = 180_000
const NOTIFY_EVERY_MS = 20_000
/** Polling backoff. Each poll is one call per coin, of which there may be hundreds. */
const POLL = { firstMs: 250, capMs: 1000, jitter: 0 }

/** This message starts with the public server's text. */
const NO_SNAPSHOT: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: `Order book not ready for streaming (waiting for snapshot) after ${MAX_WAIT_MS / 1000} s. Subscribe again`,
}

/** A subscriber that waits for a snapshot. */
interface Waiter extends SnapshotWaiter {
  readonly receiver: Connection
  readonly subscription: Subscription<L4Target>
  readonly sinceMs: number
  notifiedMs: number
}

export class OrdersSource implements SubscriptionSource<L4Target> {
  readonly #ports: Ports
  readonly #registry: SubscriptionRegistry
  readonly #fanout: L4Fanout<Connection>
  readonly #queue: SnapshotQueue<Waiter>
  readonly #waiters = new Set<Waiter>()
  /** Polls of whether a book is ready. All waiters of a coin share one poll. */
  readonly #polls = new SingleFlights<boolean>(Number.POSITIVE_INFINITY)
  /** Channel that encodes the snapshots. */
  #channel: L4Channel<unknown> | null = null

  constructor(ports: Ports, registry: SubscriptionRegistry, fanout: L4Fanout<Connection>) {
    this.#ports = ports
    this.#registry = registry
    this.#fanout = fanout
    this.#queue = new SnapshotQueue<Waiter>({
      clock: ports.clock,
      wait: (ms) => ports.wait(ms),
      startRecording: (coin) => fanout.startRecording(coin),
      stopRecording: (coin) => fanout.stopRecording(coin),
      fetch: async (coin, atLeast) => this.#channel && (ports.l4?.fetch(coin, atLeast, this.#channel.snapshot) ?? null),
      deliver: ({ coin, receiver }, { position, text }) =>
        fanout.deliverSnapshot(coin, receiver, position.height, text),
    })
    fanout.onLost = (coin, receivers) => this.#reseed(coin, receivers)
  }

  async validate({ body }: L4Target): Promise<Failure | null> {
    if (this.#ports.l4 === null) return NO_ORDER_BOOKS
    const isUp = await this.#ports.ensureLog().then(
      () => true,
      () => false,
    )
    const hasBook = isUp ? await this.#ports.hasBook(body.coin) : null
    // Each coin has its own Durable Object. Without this check, any name would create one.
    if (hasBook === null) return NOT_READY
    return hasBook ? null : noSuchBook([body.coin], this.#ports.nearestCoin)
  }

  capacity(): Failure | null {
    return this.#fanout.size >= L4_COINS_MAX ? BOOK_LIMIT_REACHED : null
  }

  attach(subscription: Subscription<L4Target>): void {
    this.#fanout.add(subscription.target, subscription.connection)
    this.#startFetch(subscription)
  }

  resume(subscription: Subscription<L4Target>): void {
    this.attach(subscription)
  }

  detach({ target, connection }: Subscription<L4Target>): void {
    const { coin } = target.body
    this.#fanout.remove(coin, connection)
    for (const waiter of this.#waiters) if (waiter.coin === coin && waiter.receiver === connection) this.#leave(waiter)
  }

  /** Call it every ten seconds. */
  tick(): void {
    const { nowMs } = this.#ports.clock
    for (const waiter of [...this.#waiters]) {
      if (nowMs - waiter.sinceMs >= MAX_WAIT_MS) this.#giveUp(waiter)
      else if (nowMs - waiter.notifiedMs >= NOTIFY_EVERY_MS) {
        waiter.notifiedMs = nowMs
        waiter.receiver.send(waitingForSnapshot(waiter.subscription.target.channel.type, nowMs - waiter.sinceMs))
      }
    }
  }

  /** Rows of a coin were lost, so its subscribers need a new snapshot. */
  #reseed(coin: Coin, connections: readonly Connection[]): void {
    for (const connection of connections)
      for (const subscription of this.#registry.of(connection).values())
        if (subscription.target.source === 'l4' && subscription.target.body.coin === coin)
          this.#startFetch(subscription as Subscription<L4Target>)
  }

  #leave(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    this.#queue.leave(waiter)
  }

  #giveUp(waiter: Waiter): void {
    this.#leave(waiter)
    const { subscription, receiver } = waiter
    this.#registry.drop(subscription, subscription.minutes.paused !== undefined)
    receiver.send(refusedSubscription(subscription.echo, NO_SNAPSHOT))
  }

  #startFetch(subscription: Subscription<L4Target>): void {
    const { connection: receiver, target, minutes } = subscription
    const { nowMs } = this.#ports.clock
    const waiter: Waiter = {
      account: receiver.identity.account,
      coin: target.body.coin,
      receiver,
      subscription,
      sinceMs: nowMs,
      notifiedMs: nowMs,
    }
    this.#channel ??= target.channel
    pauseMinute(minutes, nowMs, MAX_WAIT_MS)
    this.#waiters.add(waiter)
    this.#ports.waitUntil(this.#serve(waiter))
  }

  async #serve(waiter: Waiter): Promise<void> {
    for (let polls = 0, isReady = false; !isReady; polls++) {
      isReady = await this.#isReady(waiter.coin, backoffMs(POLL, polls, 0))
      if (!this.#waiters.has(waiter)) return
    }
    if (!(await this.#queue.enter(waiter))) return
    this.#waiters.delete(waiter)
    const { minutes } = waiter.subscription
    if (minutes.paused === undefined) return
    resumeMinute(minutes, this.#ports.clock.nowMs)
    this.#registry.persist(waiter.subscription)
  }

  /** If the book is not ready, waits `elseMs` before returning false. */
  #isReady(coin: Coin, elseMs: number): Promise<boolean> {
    const { l4, wait, clock } = this.#ports
    const poll = async () => (await l4?.isReady(coin)) || wait(elseMs).then(() => false)
    return this.#polls.join(coin, poll, clock.nowMs).result
  }
}
