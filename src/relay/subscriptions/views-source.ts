// Subscriptions of views of books: the subscriber is shown what there is, and then what changes. Invariant: a hub that
// cannot say keeps nobody waiting who wants other hubs' coins, too, and what it has comes when it can.

import type { Failure } from '../../core/failure.ts'
import { hubsOf } from '../books/book-fanout.ts'
import { type ViewFanout, viewInterests } from '../books/view-fanout.ts'
import type { ViewsTarget } from '../channel.ts'
import { PACED_BYTES } from '../events/event-frames.ts'
import type { Connection } from '../sockets/connection.ts'
import { BOOK_LIMIT_REACHED, coinsFailure, NOT_READY } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

/** Texts of views that a relay holds: some 2 KB each. */
const MAX_LOAD = 16_384
/** A hub that is silent for longer is late: its coins follow. */
const LATE_MS = 1000
/** A hub that has no books yet, or no link, is asked again; after that it tells by itself when it is there. */
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
    // Of a wildcard one hub is enough to begin with.
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

  seed({ target, connection, ...place }: Subscription<ViewsTarget>): void {
    this.#ports.waitUntil(this.#start(topicKey(place), target, connection))
  }

  /** It is shown what there is, because frames may have been missed. */
  resume(subscription: Subscription<ViewsTarget>): void {
    this.attach(subscription)
    this.seed(subscription)
  }

  detach(subscription: Subscription): void {
    this.#views.remove(topicKey(subscription), subscription.connection)
  }

  /** Resolves when the connection has what there is. Never rejects. */
  async #start(key: string, target: ViewsTarget, connection: Connection): Promise<void> {
    const told = this.#views.isComplete(key) ? Promise.resolve() : this.#fetch(key, target)
    if (!this.#views.isComplete(key)) await Promise.race([told, this.#ports.wait(LATE_MS)])
    // Nothing is awaited between a look that finds room and what fills it.
    for (let waitMs = this.#waitMs(key, connection); waitMs > 0; waitMs = this.#waitMs(key, connection))
      await this.#ports.wait(waitMs)
    this.#views.start(key, connection)
    await told
  }

  /** Whole markets go out as Snapshots do: as many as come at once would fill the memory. */
  #waitMs(key: string, connection: Connection): number {
    const bytes = this.#views.sizeOf(key)
    const waitMs = bytes > PACED_BYTES ? connection.snapshotWaitMs(bytes) : 0
    return connection.isEnded ? 0 : waitMs
  }

  #fetch(key: string, target: ViewsTarget): Promise<void> {
    return this.#views.fetchOnce(key, async () => {
      const asked = hubsOf(target.body, this.#ports.shards).map((hub) => this.#fetchFromHub(hub, key, target))
      return !(await Promise.all(asked)).includes(false)
    })
  }

  /** False where the hub could not say. */
  async #fetchFromHub(hub: number, key: string, { body }: ViewsTarget): Promise<boolean> {
    const { books, shards, wait } = this.#ports
    const wants = viewInterests(body, hub, shards)
    for (let tries = 0; tries < MAX_TRIES && this.#views.isComplete(key) !== null; tries++) {
      const answer = await books
        .ensure(hub)
        .then(() => books.joinViews(hub, wants))
        .catch(() => null)
      if (answer?.ready) {
        this.#views.push(answer)
        return true
      }
      await wait(RETRY_MS)
    }
    return false
  }
}
