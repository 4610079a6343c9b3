// The way of a body of views. Law: its coin is known, then it is charged, acknowledged, and shown what there is; a hub
// that cannot say keeps nobody waiting who wants other hubs' coins, too, and what it has comes when it can.

import type { Failure } from '../core/failure.ts'
import { hubsOf } from './books/book-fanout.ts'
import type { BookSource } from './books/snapshots.ts'
import { type ViewFanout, wantsOf } from './books/view-fanout.ts'
import type { WantedViews } from './channel.ts'
import { PACED_BYTES } from './events/parcels.ts'
import { NOT_READY, type Register } from './register.ts'
import type { Connection } from './sockets/connection.ts'
import { type Request, topicKey } from './subscription.ts'

/** Texts of views that a relay holds: some 2 KB each. */
const MAX_LOAD = 16_384
const CROWDED: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: 'as many books are shown here as can be: open another connection, which leads elsewhere',
}

/** A hub that is silent for longer is late: its coins follow. */
const LATE_MS = 1000
/** A hub that has no books yet, or no link, is asked again; after that it tells by itself when it is there. */
const RETRY_MS = 500
const TRIES = 60

export interface ViewEntrancePorts {
  readonly shards: number
  readonly books: BookSource
  wait(ms: number): Promise<void>
  /** Whether this coin has a book; null where nobody can tell now. */
  hasBook(coin: string): Promise<boolean | null>
  /** Work that goes on when the request is answered. */
  waitUntil(work: Promise<unknown>): void
}

export class ViewEntrance {
  readonly #ports: ViewEntrancePorts
  readonly #register: Register
  readonly #views: ViewFanout<Connection>

  constructor(ports: ViewEntrancePorts, register: Register, views: ViewFanout<Connection>) {
    this.#ports = ports
    this.#register = register
    this.#views = views
  }

  /** No further body begins. */
  get isFull(): boolean {
    return this.#views.load >= MAX_LOAD
  }

  /** Resolves when the request was answered. */
  async begin(request: Request, wanted: WantedViews): Promise<void> {
    const { connection } = request
    const { books, shards, hasBook } = this.#ports
    const { coins } = wanted.body
    // Of a wildcard one hub is enough to begin with.
    const isUp = await Promise.any(hubsOf(wanted.body, shards).map((hub) => books.ensure(hub))).then(
      () => true,
      () => false,
    )
    if (!isUp) return this.#register.refuse(request, NOT_READY)
    const has = await Promise.all((coins ?? []).map((coin) => hasBook(coin)))
    const unknown = (coins ?? []).filter((_, index) => has[index] === false)
    if (unknown.length > 0) return this.#register.refuseCoins(request, unknown)
    const minutes = await this.#register.pay(request)
    if (!minutes) return
    const { isFull } = this
    if (isFull) this.#register.refuse(request, CROWDED)
    if (isFull || connection.ended) return this.#register.accountOf(connection).stop(minutes, true)
    const key = topicKey(request)
    // Before it is acknowledged, which may end the connection and all that it has.
    this.#views.add(key, wanted, connection)
    this.#register.begin({ ...request, minutes }, request.fromBlock)
    this.#ports.waitUntil(this.#show(key, wanted, connection))
  }

  /** Takes up a body that slept with the relay: it is shown what there is, because frames may have been missed. */
  resume(key: string, wanted: WantedViews, connection: Connection): void {
    this.#views.add(key, wanted, connection)
    this.#ports.waitUntil(this.#show(key, wanted, connection))
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
