// The way of a body to its books. Law: its coins are known, then its turn comes, then it is charged, acknowledged, and
// sent its Snapshots; before its turn nothing is charged, held or read for it, and other requests do not wait for it.

import { type MarketType, marketTypeOf } from '../core/coin.ts'
import type { Failure } from '../core/failure.ts'
import { type BookFanout, checksumsOf, hubsOf } from './books/book-fanout.ts'
import { Joiner } from './books/joiner.ts'
import { type BookSource, Snapshots } from './books/snapshots.ts'
import { type Guest, isQuick, MAX_WAIT_MS, WaitingRoom } from './books/waiting-room.ts'
import { minutePrice, type WantedBooks } from './channel.ts'
import { waitingFrame } from './frames.ts'
import { letGo, type Minutes, standStill } from './minutes/minutes.ts'
import { NOT_READY, type Register } from './register.ts'
import type { Backlog } from './sockets/backlog.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import { type Request, type Subscription, topicKey } from './subscription.ts'

/** A minute begins with the last Snapshot, or so long after the charge where its client takes them slowly. */
const MAX_HELD_MS = 60_000

const TOO_LATE: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: `too many ask for whole books: its turn did not come in ${MAX_WAIT_MS / 1000} s: subscribe again`,
}

const TOO_MANY: Failure = {
  kind: 'rate_limited',
  retryAfterMs: 1000,
  hint: 'too many requests of this account wait for their turns: subscribe again when some have come',
}

export interface BookEntrancePorts {
  readonly shards: number
  readonly clock: Clock
  readonly books: BookSource
  /** Digest of a body's text. */
  digest(text: string): Promise<string>
  wait(ms: number): Promise<void>
  /** Something went wrong that must not: the connection is to end. */
  failed(connection: Connection, error: unknown): void
}

type BookSubscription = Subscription & { readonly wanted: WantedBooks }

interface Entrant {
  readonly request: Request
  readonly wanted: WantedBooks
  /** The client wants it no more. */
  isWithdrawn: boolean
  /** It is a subscription now. */
  isBegun: boolean
}

/** A body on its way to its books, which other requests of its socket do not wait for. */
interface Join extends Guest, Entrant {
  done: Promise<void>
}

export class BookEntrance {
  readonly #ports: BookEntrancePorts
  readonly #register: Register
  readonly #books: BookFanout<Connection>
  readonly #backlog: Backlog
  readonly #snapshots: Snapshots
  readonly #room = new WaitingRoom()
  readonly #joins = new Map<Connection, Set<Join>>()

  constructor(ports: BookEntrancePorts, register: Register, books: BookFanout<Connection>, backlog: Backlog) {
    this.#ports = ports
    this.#register = register
    this.#books = books
    this.#backlog = backlog
    this.#snapshots = new Snapshots(ports.books, books, ports.shards, ports.clock, (ms) => ports.wait(ms))
  }

  /** The identities of a connection's bodies that are on their way, and are not subscriptions yet. */
  joinsOf(connection: Connection): ReadonlySet<string> {
    return new Set(this.#waiting(connection).map(({ request }) => request.identity))
  }

  /** The client wants a body no more that is on its way. */
  withdraw(connection: Connection, identity: string): void {
    const join = this.#waiting(connection).find(({ request }) => request.identity === identity)
    if (!join) return
    join.isWithdrawn = true
    this.#room.leave(join)
  }

  /** To be called every ten seconds. */
  tick(): void {
    this.#room.tick(this.#ports.clock.nowMs)
  }

  /** Resolves when every body that is on its way has its books, or was refused. */
  async joined(): Promise<void> {
    await Promise.all([...this.#joins.values()].flatMap((joins) => [...joins].map(({ done }) => done)))
  }

  /** Resolves when the request was answered, or waits for its turn. */
  async begin(request: Request, wanted: WantedBooks): Promise<void> {
    const hubs = hubsOf(wanted.body, this.#ports.shards)
    if (!(await this.#reach(wanted))) return this.#register.refuse(request, NOT_READY)
    const { coins } = wanted.body
    const unknown = coins === null ? [] : await this.#snapshots.unknown(coins, hubs).catch(() => null)
    if (!unknown) return this.#register.refuse(request, NOT_READY)
    if (unknown.length > 0) return this.#register.refuseCoins(request, unknown)
    if (!wanted.channel.snapshot) return this.#enter({ request, wanted, isWithdrawn: false, isBegun: false }, null)
    if (!request.connection.ended) this.#join(request, wanted)
  }

  #waiting(connection: Connection): Join[] {
    return [...(this.#joins.get(connection) ?? [])].filter(({ isBegun, isWithdrawn }) => !isBegun && !isWithdrawn)
  }

  /** Sends the body on its way. */
  #join(request: Request, wanted: WantedBooks): void {
    const { connection } = request
    const { account } = connection.identity
    const leave = this.#backlog.take(account, request.echo.length)
    if (!leave) return this.#register.refuse(request, TOO_MANY)
    const joins = this.#joins.get(connection) ?? new Set()
    // Wildcards of one channel replace one another, and equal bodies stand in one place: they go one by one.
    const earlier = [...joins].findLast(
      (one) => one.request.identity === request.identity || (isWildcard(one) && isWildcard({ wanted })),
    )
    const join: Join = {
      request,
      wanted,
      body: wanted.body,
      account,
      isWithdrawn: false,
      isBegun: false,
      tell: (waitedMs) => connection.send(waitingFrame(wanted.channel.type, waitedMs)),
      done: Promise.resolve(),
    }
    joins.add(join)
    this.#joins.set(connection, joins)
    join.done = (earlier?.done ?? Promise.resolve())
      .then(() => this.#comeToBooks(join))
      .catch((error) => this.#ports.failed(connection, error))
      .finally(() => {
        leave()
        joins.delete(join)
        if (joins.size === 0) this.#joins.delete(connection)
      })
  }

  async #comeToBooks(join: Join): Promise<void> {
    const { request, wanted } = join
    if (join.isWithdrawn) return
    const before = this.#wildcardOf(request.connection, wanted)
    if (before && added(wanted, before).length === 0) return this.#register.atWork(() => this.#enter(join, null))
    const account = this.#register.accountOf(request.connection)
    // Whose credits seem not to suffice is asked to pay at once: who cannot has no place in the queue.
    const mustPay = !before || !isCovered(wanted, before)
    const isPoor = mustPay && !(await account.affords(minutePrice(wanted)))
    const early = isPoor ? await this.#register.pay(request) : null
    if (isPoor && !early) return
    if (early) standStill(early, this.#ports.clock.nowMs, MAX_WAIT_MS)
    const { nowMs } = this.#ports.clock
    const turn = join.isWithdrawn ? 'left' : await this.#room.wait(join, nowMs, () => this.#enter(join, early))
    if (turn === 'now') return
    if (early) account.stop(early, true)
    if (turn === 'late') this.#register.refuse(request, TOO_LATE)
  }

  /** Its turn has come. */
  async #enter(join: Entrant, early: Minutes | null): Promise<void> {
    const { request, wanted } = join
    const { connection } = request
    const { shards, clock } = this.#ports
    const before = this.#wildcardOf(connection, wanted)
    const key = topicKey(request)
    const joiner = wanted.channel.snapshot && new Joiner(wanted.channel, shards)
    // From before the hubs name their coins, so that none that is listed then is missed.
    if (joiner) this.#books.add(key, wanted, connection, joiner)
    const { coins, minutes } = await this.#register.atWork(() => this.#admit(join, before, early))
    const isTakeover = minutes === before?.minutes
    // From here to its beginning nothing is awaited.
    if (!coins || !minutes || join.isWithdrawn || connection.ended) {
      if (joiner) this.#books.remove(key, connection)
      if (minutes && !isTakeover) this.#register.accountOf(connection).stop(minutes, true)
      return
    }
    if (before && this.#register.heldBy(connection).get(before.identity) !== before) {
      // It ended meanwhile: nothing goes over.
      if (joiner) this.#books.remove(key, connection)
      return this.#enter(join, isTakeover ? null : minutes)
    }
    joiner?.await(coins)
    // Before the one that ends, with which would go what hubs have told of a block that others have yet to tell of; and
    // before it is acknowledged, which may end the connection and all that it has.
    if (!joiner) this.#books.add(key, wanted, connection)
    if (before) this.#replace(before, joiner, isTakeover)
    const sent = (isTakeover && before.sent) || new Map<MarketType, number>()
    for (const type of added(wanted, before)) sent.set(type, minutes.paid)
    const subscription = { ...request, minutes, sent }
    join.isBegun = true
    this.#register.begin(subscription, request.fromBlock)
    if (!joiner || !wanted.channel.snapshot) return
    if (!isTakeover) standStill(minutes, clock.nowMs, MAX_HELD_MS)
    const seeding = { key, connection, joiner, encode: wanted.channel.snapshot, isQuick: isQuick(wanted.body) }
    if (!(await this.#snapshots.serve(seeding, hubsOf(wanted.body, shards)))) return connection.broken('unserved')
    letGo(minutes, clock.nowMs)
    this.#register.changed(subscription)
  }

  /** The coins whose Snapshots it is to get, and what pays for it; of null the client was told. */
  async #admit(join: Entrant, before: BookSubscription | undefined, early: Minutes | null) {
    const { request, wanted } = join
    const hubs = hubsOf(wanted.body, this.#ports.shards)
    const named = async () => wanted.body.coins ?? this.#snapshots.named(added(wanted, before), hubs)
    const coins = (await this.#reach(wanted)) ? await named().catch(() => null) : null
    if (!coins) this.#register.refuse(request, NOT_READY)
    const pay = () =>
      before && isCovered(wanted, before) ? this.#payWith(request, before) : this.#register.pay(request)
    return { coins, minutes: early ?? (coins && (await pay())) }
  }

  /** The minute of the wildcard that it takes over from; null where too much is asked that costs nothing. */
  async #payWith(request: Request, before: BookSubscription): Promise<Minutes | null> {
    if (!this.#register.mayBeFree(request)) return null
    before.minutes.body = await this.#ports.digest(request.identity)
    return before.minutes
  }

  /** The old body ends; what it has delivered is not delivered again. With a takeover its minutes go over. */
  #replace(before: BookSubscription, joiner: Joiner | null, isTakeover: boolean): void {
    const { connection, wanted } = before
    const served = this.#books.joinerOf(topicKey(before), connection)
    joiner?.takeOver((coin) => wanted.body.types.includes(marketTypeOf(coin)), served)
    if (isTakeover) this.#register.release(before)
    else this.#register.drop(before)
  }

  /** The wildcard of the same channel that this one takes over from. */
  #wildcardOf(connection: Connection, { channel, body }: WantedBooks): BookSubscription | undefined {
    if (body.coins !== null) return undefined
    return [...this.#register.heldBy(connection).values()].find(
      (held): held is BookSubscription =>
        held.wanted.source === 'books' && held.wanted.channel === channel && held.wanted.body.coins === null,
    )
  }

  /** Links are up, and checksums are in force where they are wanted; false where a hub cannot be reached. */
  #reach({ body }: WantedBooks): Promise<boolean> {
    const { shards, books } = this.#ports
    const reached = hubsOf(body, shards).map(async (hub) => {
      await books.ensure(hub)
      const wants = checksumsOf(body, hub, shards)
      if (wants.length > 0) await books.joinViews(hub, wants)
    })
    return Promise.all(reached).then(
      () => true,
      () => false,
    )
  }
}

function isWildcard({ wanted }: Pick<Entrant, 'wanted'>): boolean {
  return wanted.body.coins === null
}

/** Market types of a wildcard that the one before it does not have. */
function added({ body }: WantedBooks, before: BookSubscription | undefined): MarketType[] {
  return body.types.filter((type) => !before?.wanted.body.types.includes(type))
}

/** True where the paid minute brings no Snapshot twice. */
function isCovered(wanted: WantedBooks, before: BookSubscription): boolean {
  return (
    !wanted.channel.snapshot || added(wanted, before).every((type) => before.sent?.get(type) !== before.minutes.paid)
  )
}
