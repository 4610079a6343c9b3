// Subscriptions to book views: the current state first, then changes. Invariant: a hub that cannot answer never delays
// the coins of other hubs. Its own coins follow when it can.

import type { Failure } from '../../core/failure.ts'
import { hubsOf } from '../books/book-fanout.ts'
import { type ViewFanout, viewInterests } from '../books/view-fanout.ts'
import type { ViewsTarget } from '../channel.ts'
import { PACED_BYTES } from '../events/event-frames.ts'
import type { Connection } from '../sockets/connection.ts'
import { BOOK_LIMIT_REACHED, coinsFailure, NOT_READY } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

/** Maximum number of view strings that a relay stores, at about 2 KB each. */
const MAX_LOAD = 16_384
/** A hub that does not respond within this time is late. Its coins follow later. */
const LATE_MS = 1000
/**
 * Interval and number of requests to a hub that has no books or no link. Afterwards, its views arrive with its frames.
 */
const RETRY_MS = 500
const MAX_TRIES = 60

export class ViewsSource implements SubscriptionSource<ViewsTarget> {
  readonly #ports: Ports
  readonly #views: ViewFanout<Connection>

  constructor(ports: Ports, views: ViewFanout<Connection>) {
    this.#ports = ports
    this.#views = views
  }

  async validate({ body }: ViewsTarget): Promise<Failure | null> {
    const { books, shards } = this.#ports
    // For a wildcard, one hub is enough to start.
    const isUp = await Promise.any(hubsOf(body, shards).map((hub) => books.ensure(hub))).then(
      () => true,
      () => false,
    )
    return isUp ? coinsFailure(body.coins ?? [], this.#ports) : NOT_READY
  }

  capacity(): Failure | null {
    return this.#views.load >= MAX_LOAD ? BOOK_LIMIT_REACHED : null
  }

  attach(subscription: Subscription<ViewsTarget>): void {
    this.#views.add(topicKey(subscription), subscription.target, subscription.connection)
  }

  seed({ target, connection, ...topic }: Subscription<ViewsTarget>): void {
    this.#ports.waitUntil(this.#start(topicKey(topic), target, connection))
  }

  /** Sends the current state, because frames may have been missed. */
  resume(subscription: Subscription<ViewsTarget>): void {
    this.attach(subscription)
    this.seed(subscription)
  }

  detach(subscription: Subscription): void {
    this.#views.remove(topicKey(subscription), subscription.connection)
  }

  /** Resolves when the connection has the current state. Never rejects. */
  async #start(key: string, target: ViewsTarget, connection: Connection): Promise<void> {
    const fetched = this.#views.isComplete(key) ? Promise.resolve() : this.#fetch(key, target)
    if (!this.#views.isComplete(key)) await Promise.race([fetched, this.#ports.wait(LATE_MS)])
    // Nothing is awaited between the check for room and the send.
    for (let waitMs = this.#waitMs(key, connection); waitMs > 0; waitMs = this.#waitMs(key, connection))
      await this.#ports.wait(waitMs)
    this.#views.start(key, connection)
    await fetched
  }

  /** Whole markets are paced like snapshots, because concurrent sends would otherwise fill the memory. */
  #waitMs(key: string, connection: Connection): number {
    const bytes = this.#views.sizeOf(key)
    const waitMs = bytes > PACED_BYTES ? connection.snapshotWaitMs(bytes) : 0
    return connection.isEnded ? 0 : waitMs
  }

  #fetch(key: string, target: ViewsTarget): Promise<void> {
    return this.#views.fetchOnce(key, async () => {
      const requests = hubsOf(target.body, this.#ports.shards).map((hub) => this.#fetchFromHub(hub, key, target))
      return !(await Promise.all(requests)).includes(false)
    })
  }

  /** False if the hub could not answer. */
  async #fetchFromHub(hub: number, key: string, { body }: ViewsTarget): Promise<boolean> {
    const { books, shards, wait } = this.#ports
    const interests = viewInterests(body, hub, shards)
    for (let tries = 0; tries < MAX_TRIES && this.#views.isComplete(key) !== null; tries++) {
      const reply = await books
        .ensure(hub)
        .then(() => books.joinViews(hub, interests))
        .catch(() => null)
      if (reply?.ready) {
        this.#views.push(reply)
        return true
      }
      await wait(RETRY_MS)
    }
    return false
  }
}
