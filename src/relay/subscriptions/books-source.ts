// Subscriptions of book changes. Invariant: a body's coins are known, then its turn comes, then it is charged, acknowledged,
// and sent its Snapshots; before its turn nothing is charged, held or read for it, and other requests do not wait for it.

import { type MarketType, marketTypeOf } from '../../core/coin.ts'
import { entryOf } from '../../core/entry-of.ts'
import type { Failure } from '../../core/failure.ts'
import { waitingFrame } from '../../protocol/relay/frames.ts'
import { type BookFanout, checksumsOf, hubsOf } from '../books/book-fanout.ts'
import { Joiner } from '../books/joiner.ts'
import { Snapshots } from '../books/snapshots.ts'
import { type Guest, isQuick, MAX_WAIT_MS, WaitingRoom } from '../books/turns.ts'
import { minutePrice, type WantedBooks } from '../channel.ts'
import { letGo, type Minutes, standStill } from '../minutes/minutes.ts'
import type { Backlog } from '../sockets/backlog.ts'
import type { Connection } from '../sockets/connection.ts'
import { NOT_READY, noBookOf } from './refusals.ts'
import type { SubscriptionRegistry } from './registry.ts'
import {
  type Claim,
  type Ports,
  type Request,
  type Subscription,
  type SubscriptionSource,
  topicKey,
} from './subscription.ts'

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

type BookRequest = Request<WantedBooks>
type BookSubscription = Subscription<WantedBooks>

/** A body on its way to its books, which other requests of its socket do not wait for. */
interface Join extends Guest {
  readonly request: BookRequest
  readonly begin: (claim: Claim) => Promise<void>
  /** `withdrawn`: the client wants it no more. `begun`: it is a subscription now. */
  state: 'waiting' | 'withdrawn' | 'begun'
  done: Promise<void>
}

/** Pays for a body; a wildcard may take over from another of its channel, with its minute. */
interface BookClaim extends Claim {
  readonly join: Join
  readonly joiner: Joiner | null
  /** The wildcard that it takes over from. */
  readonly before: BookSubscription | undefined
  /** The coins whose Snapshots it is to get; null where hubs do not name them. */
  coins: readonly string[] | null
}

export class BooksSource implements SubscriptionSource<WantedBooks> {
  readonly #ports: Ports
  readonly #registry: SubscriptionRegistry
  readonly #books: BookFanout<Connection>
  readonly #backlog: Backlog
  readonly #snapshots: Snapshots
  readonly #room = new WaitingRoom()
  readonly #joins = new Map<Connection, Set<Join>>()

  constructor(ports: Ports, registry: SubscriptionRegistry, books: BookFanout<Connection>, backlog: Backlog) {
    this.#ports = ports
    this.#registry = registry
    this.#books = books
    this.#backlog = backlog
    this.#snapshots = new Snapshots(ports, books)
  }

  /** The identities of a connection's bodies that are on their way, and are not subscriptions yet. */
  waitingOf(connection: Connection): ReadonlySet<string> {
    return new Set(this.#waiting(connection).map(({ request }) => request.identity))
  }

  /** The client wants a body no more; false where none such is on its way. */
  withdraw(connection: Connection, identity: string): boolean {
    const join = this.#waiting(connection).find(({ request }) => request.identity === identity)
    if (!join) return false
    join.state = 'withdrawn'
    this.#room.leave(join)
    return true
  }

  /** To be called every ten seconds. */
  tick(): void {
    this.#room.tick(this.#ports.clock.nowMs)
  }

  /** Resolves when every body that is on its way has its books, or was refused. */
  async joined(): Promise<void> {
    await Promise.all([...this.#joins.values()].flatMap((joins) => [...joins].map(({ done }) => done)))
  }

  async validate(wanted: WantedBooks): Promise<Failure | null> {
    const { coins } = wanted.body
    if (!(await this.#reach(wanted))) return NOT_READY
    const hubs = hubsOf(wanted.body, this.#ports.shards)
    const unknown = coins === null ? [] : await this.#snapshots.unknown(coins, hubs).catch(() => null)
    if (!unknown) return NOT_READY
    return unknown.length > 0 ? noBookOf(unknown, this.#ports.nearestCoin) : null
  }

  /** Resolves when the body stands in the queue; one without Snapshots needs no turn, and begins. */
  async queue(request: BookRequest, begin: Join['begin']): Promise<void> {
    const { connection, wanted } = request
    const { account } = connection.identity
    const join: Join = {
      request,
      begin,
      body: wanted.body,
      account,
      state: 'waiting',
      tell: (waitedMs) => connection.send(waitingFrame(wanted.channel.type, waitedMs)),
      done: Promise.resolve(),
    }
    if (!wanted.channel.snapshot) return this.#enter(join, null)
    if (connection.ended) return
    const leave = this.#backlog.take(account, request.echo.length)
    if (!leave) return this.#registry.refuse(request, TOO_MANY)
    const joins = entryOf(this.#joins, connection, () => new Set())
    // Wildcards of one channel replace one another, and equal bodies stand in one place: they go one by one.
    const earlier = [...joins].findLast(
      (one) => one.request.identity === request.identity || (one.body.coins === null && join.body.coins === null),
    )
    joins.add(join)
    join.done = (earlier?.done ?? Promise.resolve())
      .then(() => this.#waitForTurn(join))
      .catch((error) => this.#ports.failed(connection, error))
      .finally(() => {
        leave()
        joins.delete(join)
        if (joins.size === 0) this.#joins.delete(connection)
      })
  }

  attach(subscription: BookSubscription, { join, joiner, before, coins }: BookClaim): void {
    const { wanted, connection, minutes } = subscription
    const isTakeover = minutes === before?.minutes
    if (coins) joiner?.await(coins)
    // Before the one that ends, with which would go what hubs have told of a block that others have yet to tell of.
    if (!joiner) this.#books.add(topicKey(subscription), wanted, connection)
    if (before) this.#replace(before, joiner, isTakeover)
    subscription.sent = (isTakeover && before?.sent) || new Map<MarketType, number>()
    for (const type of added(wanted, before)) subscription.sent.set(type, minutes.paid)
    join.state = 'begun'
  }

  /** Sends the Snapshots; its minute stands still until then. */
  async seed(subscription: BookSubscription, { joiner, before }: BookClaim): Promise<void> {
    const { wanted, connection, minutes } = subscription
    const { snapshot: encode } = wanted.channel
    const { shards, clock } = this.#ports
    if (!joiner || !encode) return
    if (minutes !== before?.minutes) standStill(minutes, clock.nowMs, MAX_HELD_MS)
    const seeding = { key: topicKey(subscription), connection, joiner, encode, isQuick: isQuick(wanted.body) }
    if (!(await this.#snapshots.serve(seeding, hubsOf(wanted.body, shards)))) return connection.broken('unserved')
    letGo(minutes, clock.nowMs)
    this.#registry.changed(subscription)
  }

  resume(subscription: BookSubscription): void {
    this.#books.add(topicKey(subscription), subscription.wanted, subscription.connection)
  }

  detach(subscription: Subscription): void {
    this.#books.remove(topicKey(subscription), subscription.connection)
  }

  #waiting(connection: Connection): Join[] {
    return [...(this.#joins.get(connection) ?? [])].filter(({ state }) => state === 'waiting')
  }

  async #waitForTurn(join: Join): Promise<void> {
    const { request } = join
    const { wanted, connection } = request
    if (join.state === 'withdrawn') return
    const before = this.#wildcardOf(request)
    if (before && added(wanted, before).length === 0) return this.#enter(join, null)
    const account = this.#registry.accountOf(connection)
    // Whose credits seem not to suffice is asked to pay at once: who cannot has no place in the queue.
    const mustPay = !before || !isCovered(wanted, before)
    const isPoor = mustPay && !(await account.affords(minutePrice(wanted)))
    const early = isPoor ? await this.#registry.pay(request) : null
    if (isPoor && !early) return
    if (early) standStill(early, this.#ports.clock.nowMs, MAX_WAIT_MS)
    const { nowMs } = this.#ports.clock
    // It may have been withdrawn meanwhile.
    const isLeft = (join.state as Join['state']) === 'withdrawn'
    const turn = isLeft ? 'left' : await this.#room.wait(join, nowMs, () => this.#enter(join, early))
    if (turn === 'now') return
    if (early) account.stop(early, true)
    if (turn === 'late') this.#registry.refuse(request, TOO_LATE)
  }

  /** Its turn has come. `early`: it has paid for its minute. */
  async #enter(join: Join, early: Minutes | null): Promise<void> {
    const { request, begin } = join
    const { connection, wanted } = request
    const before = this.#wildcardOf(request)
    const joiner = wanted.channel.snapshot && new Joiner(wanted.channel, this.#ports.shards)
    const key = topicKey(request)
    // From before the hubs name their coins, so that none that is listed then is missed.
    if (joiner) this.#books.add(key, wanted, connection, joiner)
    const isOver = () => !claim.coins || join.state !== 'waiting' || connection.ended
    const isStale = () => before !== undefined && this.#registry.of(connection).get(before.identity) !== before
    let again: Minutes | null | undefined
    const claim: BookClaim = {
      join,
      joiner,
      before,
      coins: null,
      pay: () => this.#pay(claim, early),
      get isWanted() {
        return !isOver() && !isStale()
      },
      cancel: (minutes) => {
        if (joiner) this.#books.remove(key, connection)
        const own = minutes === before?.minutes ? null : minutes
        // The wildcard before it ended meanwhile: nothing goes over.
        if (minutes && !isOver()) again = own
        else if (own) this.#registry.refund(connection, own)
      },
    }
    await begin(claim)
    if (again !== undefined) return this.#enter(join, again)
  }

  async #pay(claim: BookClaim, early: Minutes | null): Promise<Minutes | null> {
    const { join, before } = claim
    const { request } = join
    const { wanted } = request
    const hubs = hubsOf(wanted.body, this.#ports.shards)
    const named = async () => wanted.body.coins ?? this.#snapshots.named(added(wanted, before), hubs)
    claim.coins = (await this.#reach(wanted)) ? await named().catch(() => null) : null
    if (!claim.coins) this.#registry.refuse(request, NOT_READY)
    if (early || !claim.coins) return early
    return before && isCovered(wanted, before) ? this.#payWith(request, before) : this.#registry.pay(request)
  }

  /** The minute of the wildcard that it takes over from; null where too much is asked that costs nothing. */
  async #payWith(request: Request, before: BookSubscription): Promise<Minutes | null> {
    if (!this.#registry.mayBeFree(request)) return null
    before.minutes.body = await this.#ports.digest(request.identity)
    return before.minutes
  }

  /** The old body ends; what it has delivered is not delivered again. With a takeover its minutes go over. */
  #replace(before: BookSubscription, joiner: Joiner | null, isTakeover: boolean): void {
    const { connection, wanted } = before
    const served = this.#books.joinerOf(topicKey(before), connection)
    joiner?.takeOver((coin) => wanted.body.types.includes(marketTypeOf(coin)), served)
    if (isTakeover) this.#registry.release(before)
    else this.#registry.drop(before)
  }

  /** The wildcard of the same channel that this one takes over from. */
  #wildcardOf({ connection, wanted: { channel, body } }: BookRequest): BookSubscription | undefined {
    if (body.coins !== null) return undefined
    return [...this.#registry.of(connection).values()].find(
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
