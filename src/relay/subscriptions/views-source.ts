// Subscriptions of views of books: the subscriber is shown what there is, and then what changes. Invariant: a hub that
// cannot say keeps nobody waiting who wants other hubs' coins, too, and what it has comes when it can.

import type { Failure } from '../../core/failure.ts'
import { hubsOf } from '../books/book-fanout.ts'
import { type ViewFanout, wantsOf } from '../books/view-fanout.ts'
import type { WantedViews } from '../channel.ts'
import { PACED_BYTES } from '../events/parcels.ts'
import type { Connection } from '../sockets/connection.ts'
import { BOOKS_FULL, NOT_READY, refusalOfCoins } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

/** Texts of views that a relay holds: some 2 KB each. */
const MAX_LOAD = 16_384
/** A hub that is silent for longer is late: its coins follow. */
const LATE_MS = 1000
/** A hub that has no books yet, or no link, is asked again; after that it tells by itself when it is there. */
const RETRY_MS = 500
const TRIES = 60

export class ViewsSource implements SubscriptionSource<WantedViews> {
  readonly #ports: Ports
  readonly #views: ViewFanout<Connection>

  constructor(ports: Ports, views: ViewFanout<Connection>) {
    this.#ports = ports
    this.#views = views
  }

  async validate({ body }: WantedViews): Promise<Failure | null> {
    const { books, shards } = this.#ports
    // Of a wildcard one hub is enough to begin with.
    const isUp = await Promise.any(hubsOf(body, shards).map((hub) => books.ensure(hub))).then(
      () => true,
      () => false,
    )
    return isUp ? refusalOfCoins(body.coins ?? [], this.#ports) : NOT_READY
  }

  capacity(): Failure | null {
    return this.#views.load >= MAX_LOAD ? BOOKS_FULL : null
  }

  attach(subscription: Subscription<WantedViews>): void {
    this.#views.add(topicKey(subscription), subscription.wanted, subscription.connection)
  }

  seed({ wanted, connection, ...place }: Subscription<WantedViews>): void {
    this.#ports.waitUntil(this.#show(topicKey(place), wanted, connection))
  }

  /** It is shown what there is, because frames may have been missed. */
  resume(subscription: Subscription<WantedViews>): void {
    this.attach(subscription)
    this.seed(subscription)
  }

  detach(subscription: Subscription): void {
    this.#views.remove(topicKey(subscription), subscription.connection)
  }

  /** Resolves when the connection has what there is. Never rejects. */
  async #show(key: string, wanted: WantedViews, connection: Connection): Promise<void> {
    const told = this.#views.isWhole(key) ? Promise.resolve() : this.#ask(key, wanted)
    if (!this.#views.isWhole(key)) await Promise.race([told, this.#ports.wait(LATE_MS)])
    // Nothing is awaited between a look that finds room and what fills it.
    for (let waitMs = this.#waitMs(key, connection); waitMs > 0; waitMs = this.#waitMs(key, connection))
      await this.#ports.wait(waitMs)
    this.#views.begin(key, connection)
    await told
  }

  /** Whole markets go out as Snapshots do: as many as come at once would fill the memory. */
  #waitMs(key: string, connection: Connection): number {
    const bytes = this.#views.sizeOf(key)
    const waitMs = bytes > PACED_BYTES ? connection.snapshotWaitMs(bytes) : 0
    return connection.ended ? 0 : waitMs
  }

  #ask(key: string, wanted: WantedViews): Promise<void> {
    return this.#views.ask(key, async () => {
      const asked = hubsOf(wanted.body, this.#ports.shards).map((hub) => this.#askHub(hub, key, wanted))
      return !(await Promise.all(asked)).includes(false)
    })
  }

  /** False where the hub could not say. */
  async #askHub(hub: number, key: string, { body }: WantedViews): Promise<boolean> {
    const { books, shards, wait } = this.#ports
    const wants = wantsOf(body, hub, shards)
    for (let tries = 0; tries < TRIES && this.#views.isWhole(key) !== null; tries++) {
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
