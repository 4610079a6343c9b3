// Starts order-book subscriptions. The steps are, in this order: validate the coins, queue, charge, acknowledge, send
// the snapshots. Invariant: a queued request is not charged, holds no books, and never blocks other requests of its
// socket.

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

/**
 * A paid minute starts when the last snapshot is sent. If the client reads slowly, it starts this long after the
 * charge.
 */
const MAX_PAUSE_MS = 60_000

const QUEUE_TIMEOUT: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: `too many clients are waiting for full books (timeout ${MAX_WAIT_MS / 1000} s). Subscribe again`,
}

const TOO_MANY: Failure = {
  kind: 'rate_limited',
  retryAfterMs: 1000,
  hint: 'too many pending requests for this account. Subscribe again when some have been answered',
}

type BookRequest = Request<BooksTarget>
type BookSubscription = Subscription<BooksTarget>

/** A body that waits for its books without blocking other requests of its socket. */
interface PendingJoin extends AdmissionWaiter {
  readonly request: BookRequest
  readonly start: (claim: Claim) => Promise<void>
  /** `canceled`: the client unsubscribed. `started`: the body is a subscription now. */
  state: 'waiting' | 'canceled' | 'started'
  done: Promise<void>
}

/**
 * Claim of an order-book body. A wildcard may replace another wildcard of its channel and take over its paid minute.
 */
interface BookClaim extends Claim {
  readonly join: PendingJoin
  readonly joiner: Joiner | null
  /** The wildcard that this body replaces. */
  readonly previous: BookSubscription | undefined
  /** Coins whose snapshots the subscriber gets; null if a hub did not name its coins. */
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

  /** Identities of a connection's bodies that are not subscriptions yet. */
  pendingOf(connection: Connection): ReadonlySet<string> {
    return new Set(this.#pending(connection).map(({ request }) => request.identity))
  }

  /** Cancels a pending body; false if there is none. */
  cancel(connection: Connection, identity: string): boolean {
    const join = this.#pending(connection).find(({ request }) => request.identity === identity)
    if (!join) return false
    join.state = 'canceled'
    this.#admission.cancel(join)
    return true
  }

  /** Call it every ten seconds. */
  tick(): void {
    this.#admission.tick(this.#ports.clock.nowMs)
  }

  /** Resolves when every pending body has its books or has been rejected. */
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

  /** Resolves when the body is in the queue. A body without snapshots starts at once. */
  async queue(request: BookRequest, start: PendingJoin['start']): Promise<void> {
    const { connection, target } = request
    const { account } = connection.identity
    const join: PendingJoin = {
      request,
      start,
      body: target.body,
      account,
      state: 'waiting',
      notify: (waitedMs) => connection.send(waitingFrame(target.channel.type, waitedMs)),
      done: Promise.resolve(),
    }
    if (!target.channel.snapshot) return this.#start(join, null)
    if (connection.isEnded) return
    const releaseBacklog = this.#backlog.reserve(account, request.echo.length)
    if (!releaseBacklog) return this.#registry.rejectUnbilled(request, TOO_MANY)
    const joins = getOrCreate(this.#joins, connection, () => new Set())
    // Wildcards of one channel replace each other, and equal bodies share a topic, so they run one by one.
    const earlier = [...joins].findLast(
      (one) => one.request.identity === request.identity || (one.body.coins === null && join.body.coins === null),
    )
    joins.add(join)
    join.done = (earlier?.done ?? Promise.resolve())
      .then(() => this.#waitForTurn(join))
      .catch((error) => this.#ports.onError(connection, error))
      .finally(() => {
        releaseBacklog()
        joins.delete(join)
        if (joins.size === 0) this.#joins.delete(connection)
      })
  }

  attach(subscription: BookSubscription, { join, joiner, previous, coins }: BookClaim): void {
    const { target, connection, minutes } = subscription
    const isTakeover = minutes === previous?.minutes
    if (coins) joiner?.expect(coins)
    // The body is added before the previous one is removed, because removal would drop a block that some hubs have
    // reported and others have not.
    if (!joiner) this.#books.add(topicKey(subscription), target, connection)
    if (previous) this.#replace(previous, joiner, isTakeover)
    subscription.sent = (isTakeover && previous?.sent) || new Map<MarketType, number>()
    for (const type of addedTypes(target, previous)) subscription.sent.set(type, minutes.paid)
    join.state = 'started'
  }

  /** Sends the snapshots. The minute is paused until then. */
  async seed(subscription: BookSubscription, { joiner, previous }: BookClaim): Promise<void> {
    const { target, connection, minutes } = subscription
    const { snapshot: encode } = target.channel
    const { shards, clock } = this.#ports
    if (!joiner || !encode) return
    if (minutes !== previous?.minutes) pauseMinute(minutes, clock.nowMs, MAX_PAUSE_MS)
    const snapshotReceiver = { key: topicKey(subscription), connection, joiner, encode, isQuick: isQuick(target.body) }
    if (!(await this.#snapshots.serve(snapshotReceiver, hubsOf(target.body, shards))))
      return connection.breakBooks('unserved')
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
    if (join.state === 'canceled') return
    const previous = this.#previousWildcard(request)
    if (previous && addedTypes(target, previous).length === 0) return this.#start(join, null)
    const account = this.#registry.accountOf(connection)
    // If the credits seem too low, charge now, because a client that cannot pay gets no place in the queue.
    const mustPay = !previous || !isCovered(target, previous)
    const isPoor = mustPay && !(await account.canAfford(minutePrice(target)))
    const early = isPoor ? await this.#registry.pay(request) : null
    if (isPoor && !early) return
    if (early) pauseMinute(early, this.#ports.clock.nowMs, MAX_WAIT_MS)
    const { nowMs } = this.#ports.clock
    // The client may have canceled the body meanwhile.
    const isCanceled = (join.state as PendingJoin['state']) === 'canceled'
    const turn = isCanceled ? 'canceled' : await this.#admission.wait(join, nowMs, () => this.#start(join, early))
    if (turn === 'granted') return
    if (early) account.stop(early, true)
    if (turn === 'late') this.#registry.rejectUnbilled(request, QUEUE_TIMEOUT)
  }

  /** Starts a body whose turn has come. `early`: its minute, if it was paid in advance. */
  async #start(join: PendingJoin, early: Minutes | null): Promise<void> {
    const { request, start } = join
    const { connection, target } = request
    const previous = this.#previousWildcard(request)
    const joiner = target.channel.snapshot && new Joiner(target.channel, this.#ports.shards)
    const key = topicKey(request)
    // The body is added before the hubs name their coins, so that a coin listed meanwhile is not missed.
    if (joiner) this.#books.add(key, target, connection, joiner)
    const isOver = () => !claim.coins || join.state !== 'waiting' || connection.isEnded
    const isStale = () => previous !== undefined && this.#registry.of(connection).get(previous.identity) !== previous
    let retryMinutes: Minutes | null | undefined
    const claim: BookClaim = {
      join,
      joiner,
      previous,
      coins: null,
      pay: () => this.#pay(claim, early),
      get isActive() {
        return !isOver() && !isStale()
      },
      cancel: (minutes) => {
        if (joiner) this.#books.remove(key, connection)
        const own = minutes === previous?.minutes ? null : minutes
        // The previous wildcard ended meanwhile, so there is nothing to take over.
        if (minutes && !isOver()) retryMinutes = own
        else if (own) this.#registry.refund(connection, own)
      },
    }
    await start(claim)
    if (retryMinutes !== undefined) return this.#start(join, retryMinutes)
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

  /** Takes over the minute of the previous wildcard. Returns null if the key makes too many unbilled requests. */
  async #takeOverMinute(request: Request, previous: BookSubscription): Promise<Minutes | null> {
    if (!this.#registry.allowUnbilled(request)) return null
    previous.minutes.body = await this.#ports.digest(request.identity)
    return previous.minutes
  }

  /**
   * Replaces the previous wildcard without sending its snapshots again. If `isTakeover`, its minutes move to the new
   * wildcard.
   */
  #replace(previous: BookSubscription, joiner: Joiner | null, isTakeover: boolean): void {
    const { connection, target } = previous
    const served = this.#books.joinerOf(topicKey(previous), connection)
    joiner?.takeOver((coin) => target.body.types.includes(marketTypeOf(coin)), served)
    if (isTakeover) this.#registry.release(previous)
    else this.#registry.drop(previous)
  }

  /** The wildcard of the same channel that this one replaces. */
  #previousWildcard({ connection, target: { channel, body } }: BookRequest): BookSubscription | undefined {
    if (body.coins !== null) return undefined
    return [...this.#registry.of(connection).values()].find(
      (subscription): subscription is BookSubscription =>
        subscription.target.source === 'books' &&
        subscription.target.channel === channel &&
        subscription.target.body.coins === null,
    )
  }

  /** Brings up the links, and requests checksums if the body needs them. False if a hub is unreachable. */
  #ensureHubs({ body }: BooksTarget): Promise<boolean> {
    const { shards, books } = this.#ports
    const reached = hubsOf(body, shards).map(async (hub) => {
      await books.ensure(hub)
      const interests = checksumInterests(body, hub, shards)
      if (interests.length > 0) await books.joinViews(hub, interests)
    })
    return Promise.all(reached).then(
      () => true,
      () => false,
    )
  }
}

/** Market types of a wildcard that the previous one lacks. */
function addedTypes({ body }: BooksTarget, previous: BookSubscription | undefined): MarketType[] {
  return body.types.filter((type) => !previous?.target.body.types.includes(type))
}

/**
 * True if the minute already paid covers the snapshots of the added market types. One paid minute covers the snapshots
 * of a market type only once.
 */
function isCovered(target: BooksTarget, previous: BookSubscription): boolean {
  return (
    !target.channel.snapshot ||
    addedTypes(target, previous).every((type) => previous.sent?.get(type) !== previous.minutes.paid)
  )
}
