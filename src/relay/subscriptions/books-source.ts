// Subscriptions of book changes. Invariant: a body's coins are known, then its turn comes, then it is charged, acknowledged,
// and sent its Snapshots; before its turn nothing is charged, held or read for it, and other requests do not wait for it.

import { type MarketType, marketTypeOf } from '../../core/coin.ts'
import type { Failure } from '../../core/failure.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { waitingFrame } from '../../protocol/relay/frames.ts'
import { type BookFanout, checksumInterests, hubsOf } from '../books/book-fanout.ts'
import { AdmissionQueue, type AdmissionWaiter, isQuick, MAX_WAIT_MS } from '../books/fair-queue.ts'
import { Joiner } from '../books/joiner.ts'
import { SnapshotService } from '../books/snapshots.ts'
import { type BooksTarget, minutePrice } from '../channel.ts'
import { type Minutes, pauseMinute, resumeMinute } from '../minutes/minutes.ts'
import type { Backlog } from '../sockets/backlog.ts'
import type { Connection } from '../sockets/connection.ts'
import { NOT_READY, noSuchBook } from './refusals.ts'
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
const MAX_PAUSE_MS = 60_000

const QUEUE_TIMEOUT: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: `too many ask for whole books: its turn did not come in ${MAX_WAIT_MS / 1000} s: subscribe again`,
}

const TOO_MANY: Failure = {
  kind: 'rate_limited',
  retryAfterMs: 1000,
  hint: 'too many requests of this account wait for their turns: subscribe again when some have come',
}

type BookRequest = Request<BooksTarget>
type BookSubscription = Subscription<BooksTarget>

/** A body on its way to its books, which other requests of its socket do not wait for. */
interface PendingJoin extends AdmissionWaiter {
  readonly request: BookRequest
  readonly start: (claim: Claim) => Promise<void>
  /** `withdrawn`: the client wants it no more. `begun`: it is a subscription now. */
  state: 'waiting' | 'withdrawn' | 'begun'
  done: Promise<void>
}

/** Pays for a body; a wildcard may take over from another of its channel, with its minute. */
interface BookClaim extends Claim {
  readonly join: PendingJoin
  readonly joiner: Joiner | null
  /** The wildcard that it takes over from. */
  readonly previous: BookSubscription | undefined
  /** The coins whose Snapshots it is to get; null where hubs do not name them. */
  coins: readonly string[] | null
}

export class BooksSource implements SubscriptionSource<BooksTarget> {
  readonly #ports: Ports
  readonly #registry: SubscriptionRegistry
  readonly #books: BookFanout<Connection>
  readonly #backlog: Backlog
  readonly #snapshots: SnapshotService
  readonly #admission = new AdmissionQueue()
  readonly #joins = new Map<Connection, Set<PendingJoin>>()

  constructor(ports: Ports, registry: SubscriptionRegistry, books: BookFanout<Connection>, backlog: Backlog) {
    this.#ports = ports
    this.#registry = registry
    this.#books = books
    this.#backlog = backlog
    this.#snapshots = new SnapshotService(ports, books)
  }

  /** The identities of a connection's bodies that are on their way, and are not subscriptions yet. */
  pendingOf(connection: Connection): ReadonlySet<string> {
    return new Set(this.#pending(connection).map(({ request }) => request.identity))
  }

  /** The client wants a body no more; false where none such is on its way. */
  cancel(connection: Connection, identity: string): boolean {
    const join = this.#pending(connection).find(({ request }) => request.identity === identity)
    if (!join) return false
    join.state = 'withdrawn'
    this.#admission.cancel(join)
    return true
  }

  /** To be called every ten seconds. */
  tick(): void {
    this.#admission.tick(this.#ports.clock.nowMs)
  }

  /** Resolves when every body that is on its way has its books, or was refused. */
  async settled(): Promise<void> {
    await Promise.all([...this.#joins.values()].flatMap((joins) => [...joins].map(({ done }) => done)))
  }

  async validate(target: BooksTarget): Promise<Failure | null> {
    const { coins } = target.body
    if (!(await this.#ensureHubs(target))) return NOT_READY
    const hubs = hubsOf(target.body, this.#ports.shards)
    const unknown = coins === null ? [] : await this.#snapshots.unknownCoins(coins, hubs).catch(() => null)
    if (!unknown) return NOT_READY
    return unknown.length > 0 ? noSuchBook(unknown, this.#ports.nearestCoin) : null
  }

  /** Resolves when the body stands in the queue; one without Snapshots needs no turn, and begins. */
  async queue(request: BookRequest, begin: PendingJoin['start']): Promise<void> {
    const { connection, target } = request
    const { account } = connection.identity
    const join: PendingJoin = {
      request,
      start: begin,
      body: target.body,
      account,
      state: 'waiting',
      notify: (waitedMs) => connection.send(waitingFrame(target.channel.type, waitedMs)),
      done: Promise.resolve(),
    }
    if (!target.channel.snapshot) return this.#start(join, null)
    if (connection.isEnded) return
    const leave = this.#backlog.reserve(account, request.echo.length)
    if (!leave) return this.#registry.rejectUnbilled(request, TOO_MANY)
    const joins = getOrCreate(this.#joins, connection, () => new Set())
    // Wildcards of one channel replace one another, and equal bodies stand in one place: they go one by one.
    const earlier = [...joins].findLast(
      (one) => one.request.identity === request.identity || (one.body.coins === null && join.body.coins === null),
    )
    joins.add(join)
    join.done = (earlier?.done ?? Promise.resolve())
      .then(() => this.#waitForTurn(join))
      .catch((error) => this.#ports.onError(connection, error))
      .finally(() => {
        leave()
        joins.delete(join)
        if (joins.size === 0) this.#joins.delete(connection)
      })
  }

  attach(subscription: BookSubscription, { join, joiner, previous, coins }: BookClaim): void {
    const { target, connection, minutes } = subscription
    const isTakeover = minutes === previous?.minutes
    if (coins) joiner?.expect(coins)
    // Before the one that ends, with which would go what hubs have told of a block that others have yet to tell of.
    if (!joiner) this.#books.add(topicKey(subscription), target, connection)
    if (previous) this.#replace(previous, joiner, isTakeover)
    subscription.sent = (isTakeover && previous?.sent) || new Map<MarketType, number>()
    for (const type of addedTypes(target, previous)) subscription.sent.set(type, minutes.paid)
    join.state = 'begun'
  }

  /** Sends the Snapshots; its minute stands still until then. */
  async seed(subscription: BookSubscription, { joiner, previous }: BookClaim): Promise<void> {
    const { target, connection, minutes } = subscription
    const { snapshot: encode } = target.channel
    const { shards, clock } = this.#ports
    if (!joiner || !encode) return
    if (minutes !== previous?.minutes) pauseMinute(minutes, clock.nowMs, MAX_PAUSE_MS)
    const seeding = { key: topicKey(subscription), connection, joiner, encode, isQuick: isQuick(target.body) }
    if (!(await this.#snapshots.serve(seeding, hubsOf(target.body, shards)))) return connection.breakBooks('unserved')
    resumeMinute(minutes, clock.nowMs)
    this.#registry.persist(subscription)
  }

  resume(subscription: BookSubscription): void {
    this.#books.add(topicKey(subscription), subscription.target, subscription.connection)
  }

  detach(subscription: Subscription): void {
    this.#books.remove(topicKey(subscription), subscription.connection)
  }

  #pending(connection: Connection): PendingJoin[] {
    return [...(this.#joins.get(connection) ?? [])].filter(({ state }) => state === 'waiting')
  }

  async #waitForTurn(join: PendingJoin): Promise<void> {
    const { request } = join
    const { target, connection } = request
    if (join.state === 'withdrawn') return
    const before = this.#previousWildcard(request)
    if (before && addedTypes(target, before).length === 0) return this.#start(join, null)
    const account = this.#registry.accountOf(connection)
    // Whose credits seem not to suffice is asked to pay at once: who cannot has no place in the queue.
    const mustPay = !before || !isCovered(target, before)
    const isPoor = mustPay && !(await account.canAfford(minutePrice(target)))
    const early = isPoor ? await this.#registry.pay(request) : null
    if (isPoor && !early) return
    if (early) pauseMinute(early, this.#ports.clock.nowMs, MAX_WAIT_MS)
    const { nowMs } = this.#ports.clock
    // It may have been withdrawn meanwhile.
    const isLeft = (join.state as PendingJoin['state']) === 'withdrawn'
    const turn = isLeft ? 'left' : await this.#admission.wait(join, nowMs, () => this.#start(join, early))
    if (turn === 'now') return
    if (early) account.stop(early, true)
    if (turn === 'late') this.#registry.rejectUnbilled(request, QUEUE_TIMEOUT)
  }

  /** Its turn has come. `early`: it has paid for its minute. */
  async #start(join: PendingJoin, early: Minutes | null): Promise<void> {
    const { request, start } = join
    const { connection, target } = request
    const before = this.#previousWildcard(request)
    const joiner = target.channel.snapshot && new Joiner(target.channel, this.#ports.shards)
    const key = topicKey(request)
    // From before the hubs name their coins, so that none that is listed then is missed.
    if (joiner) this.#books.add(key, target, connection, joiner)
    const isOver = () => !claim.coins || join.state !== 'waiting' || connection.isEnded
    const isStale = () => before !== undefined && this.#registry.of(connection).get(before.identity) !== before
    let again: Minutes | null | undefined
    const claim: BookClaim = {
      join,
      joiner,
      previous: before,
      coins: null,
      pay: () => this.#pay(claim, early),
      get isActive() {
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
    await start(claim)
    if (again !== undefined) return this.#start(join, again)
  }

  async #pay(claim: BookClaim, early: Minutes | null): Promise<Minutes | null> {
    const { join, previous } = claim
    const { request } = join
    const { target } = request
    const hubs = hubsOf(target.body, this.#ports.shards)
    const named = async () => target.body.coins ?? this.#snapshots.coinsOfTypes(addedTypes(target, previous), hubs)
    claim.coins = (await this.#ensureHubs(target)) ? await named().catch(() => null) : null
    if (!claim.coins) this.#registry.rejectUnbilled(request, NOT_READY)
    if (early || !claim.coins) return early
    return previous && isCovered(target, previous)
      ? this.#takeOverMinute(request, previous)
      : this.#registry.pay(request)
  }

  /** The minute of the wildcard that it takes over from; null where too much is asked that costs nothing. */
  async #takeOverMinute(request: Request, before: BookSubscription): Promise<Minutes | null> {
    if (!this.#registry.allowUnbilled(request)) return null
    before.minutes.body = await this.#ports.digest(request.identity)
    return before.minutes
  }

  /** The old body ends; what it has delivered is not delivered again. With a takeover its minutes go over. */
  #replace(before: BookSubscription, joiner: Joiner | null, isTakeover: boolean): void {
    const { connection, target } = before
    const served = this.#books.joinerOf(topicKey(before), connection)
    joiner?.takeOver((coin) => target.body.types.includes(marketTypeOf(coin)), served)
    if (isTakeover) this.#registry.release(before)
    else this.#registry.drop(before)
  }

  /** The wildcard of the same channel that this one takes over from. */
  #previousWildcard({ connection, target: { channel, body } }: BookRequest): BookSubscription | undefined {
    if (body.coins !== null) return undefined
    return [...this.#registry.of(connection).values()].find(
      (held): held is BookSubscription =>
        held.target.source === 'books' && held.target.channel === channel && held.target.body.coins === null,
    )
  }

  /** Links are up, and checksums are in force where they are wanted; false where a hub cannot be reached. */
  #ensureHubs({ body }: BooksTarget): Promise<boolean> {
    const { shards, books } = this.#ports
    const reached = hubsOf(body, shards).map(async (hub) => {
      await books.ensure(hub)
      const wants = checksumInterests(body, hub, shards)
      if (wants.length > 0) await books.joinViews(hub, wants)
    })
    return Promise.all(reached).then(
      () => true,
      () => false,
    )
  }
}

/** Market types of a wildcard that the one before it does not have. */
function addedTypes({ body }: BooksTarget, before: BookSubscription | undefined): MarketType[] {
  return body.types.filter((type) => !before?.target.body.types.includes(type))
}

/** True where the paid minute brings no Snapshot twice. */
function isCovered(target: BooksTarget, before: BookSubscription): boolean {
  return (
    !target.channel.snapshot ||
    addedTypes(target, before).every((type) => before.sent?.get(type) !== before.minutes.paid)
  )
}
