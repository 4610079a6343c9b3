// What every subscription goes through, whatever it brings: it is paid for, kept, acknowledged, and ends.
// Laws: nothing of a refused request stays behind; refusals that took work are few a second for each key.

import { type Failure, KEY_ENDED } from '../core/failure.ts'
import { FreeWork, tooMuchFreeWork } from '../core/free-work.ts'
import { Gate } from '../core/gate.ts'
import { counted } from '../key/identity.ts'
import { VISITOR_MINUTES, visitorsBusy } from '../key/stream-token.ts'
import type { BookFanout } from './books/book-fanout.ts'
import { noBookOf } from './books/snapshots.ts'
import { minutePrice } from './channel.ts'
import type { EventFanout } from './events/event-fanout.ts'
import { refusedSubscription } from './failure-frame.ts'
import { ackFrame, errorFrame } from './frames.ts'
import type { Account } from './minutes/account.ts'
import type { Accounts } from './minutes/accounts.ts'
import { type Minutes, SHOWN_CHARS } from './minutes/minutes.ts'
import { refusal } from './minutes/refusal.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import type { StateFanout } from './states/state-fanout.ts'
import { of, type Request, type Subscription, topicKey } from './subscription.ts'

export const NOT_READY: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: 'the data is not ready yet: subscribe again in a few seconds',
}

export interface RegisterPorts {
  readonly clock: Clock
  readonly accounts: Accounts
  /** Digest of a body's text. */
  digest(text: string): Promise<string>
  newId(): string
  /** The coin that was probably meant by one that has no book. */
  nearestCoin(coin: string): Promise<string | undefined>
  /** Remembers or forgets a subscription across hibernation. */
  saved(subscription: Subscription): void
  dropped(subscription: Subscription): void
}

export class Register {
  readonly #ports: RegisterPorts
  readonly #books: BookFanout<Connection>
  readonly #events: EventFanout<Connection>
  readonly #states: StateFanout<Connection>
  readonly #l4Ended: (coin: string, connection: Connection) => void
  readonly #held = new Map<Connection, Map<string, Subscription>>()
  readonly #freeWork = new FreeWork()
  readonly #visitors = new Gate()
  #size = 0
  #busy = 0

  constructor(
    ports: RegisterPorts,
    books: BookFanout<Connection>,
    events: EventFanout<Connection>,
    states: StateFanout<Connection>,
    l4Ended: (coin: string, connection: Connection) => void,
  ) {
    this.#l4Ended = l4Ended
    this.#ports = ports
    this.#books = books
    this.#events = events
    this.#states = states
  }

  get size(): number {
    return this.#size
  }

  /** Requests at work. */
  get busy(): number {
    return this.#busy
  }

  /** The subscriptions of a connection by the identity of their bodies. */
  heldBy(connection: Connection): ReadonlyMap<string, Subscription> {
    return of(this.#held, connection)
  }

  accountOf({ identity }: Connection): Account {
    return this.#ports.accounts.of(identity.account)
  }

  async atWork<T>(run: () => Promise<T>): Promise<T> {
    this.#busy++
    try {
      return await run()
    } finally {
      this.#busy--
    }
  }

  /** Counts an unbilled answer. False, and the client was told, where its key has had too many of them. */
  mayBeFree(request: Pick<Request, 'connection' | 'echo' | 'wanted'>): boolean {
    return this.#isWithin(request, 'take')
  }

  /** Before work at the archive, which may come to nothing. False, and the client was told, where too much of it did. */
  mayTry(request: Request): boolean {
    return this.#isWithin(request, 'tryWork')
  }

  #isWithin({ connection, echo, wanted }: Pick<Request, 'connection' | 'echo' | 'wanted'>, by: 'take' | 'tryWork') {
    const waitMs = this.#freeWork[by](counted(connection.identity), this.#ports.clock.nowMs)
    if (waitMs === 0) return true
    const failure = tooMuchFreeWork(waitMs)
    connection.refuse(failure, refusedSubscription(echo, failure), wanted.channel.type)
    return false
  }

  /** A refusal that took work and that nobody pays for. */
  refuse(request: Request, failure: Failure): void {
    const { connection, echo, wanted } = request
    if (this.mayBeFree(request)) connection.refuse(failure, refusedSubscription(echo, failure), wanted.channel.type)
  }

  async refuseCoins(request: Request, coins: readonly string[]): Promise<void> {
    this.refuse(request, await noBookOf(coins, this.#ports.nearestCoin))
  }

  /**
   * The first minute, or the rest of one that was paid before; null, and the client was told, where it is refused. The
   * connection may have ended meanwhile: then it is to be stopped.
   */
  async pay(request: Request): Promise<Minutes | null> {
    const { connection, wanted, identity, echo } = request
    const account = this.accountOf(connection)
    const { token } = connection.identity
    const visitorsPerHour = token?.visitors?.perHour
    if (token?.visitors && !this.#mayBegin(token.holder, request)) return null
    const place = { id: this.#ports.newId(), keyHash: connection.identity.keyHash, type: wanted.channel.type }
    const digest = await this.#ports.digest(identity)
    const sinceMs = this.#ports.clock.nowMs
    const shown = echo.slice(0, SHOWN_CHARS)
    const minutes: Minutes = {
      ...place,
      price: minutePrice(wanted),
      body: digest,
      sinceMs,
      paid: 0,
      shown,
      visitorsPerHour,
    }
    const answer = await account.begin(minutes, connection).catch(() => null)
    if (!answer?.ok) {
      if (answer?.reason === 'revoked') connection.fail(KEY_ENDED)
      // A visitor's socket that nobody pays for would keep the place of another's.
      else if (answer?.reason === 'busy') connection.fail(visitorsBusy(answer.busyMs))
      else this.refuse(request, answer ? refusal(answer, minutes.price, connection.identity) : NOT_READY)
      return null
    }
    this.#freeWork.charged(counted(connection.identity), this.#ports.clock.nowMs)
    return minutes
  }

  /** False, and the client was told, where a visitor without a key begins too many minutes. */
  #mayBegin(holder: string, { connection, echo, wanted }: Request): boolean {
    const { waitMs: retryAfterMs } = this.#visitors.take(holder, VISITOR_MINUTES, this.#ports.clock.nowMs)
    if (retryAfterMs === 0) return true
    const failure: Failure = { kind: 'rate_limited', retryAfterMs, limit: VISITOR_MINUTES }
    connection.refuse(failure, refusedSubscription(echo, failure), wanted.channel.type)
    return false
  }

  /** Keeps the subscription and tells its client that it has begun. */
  begin(subscription: Subscription, fromBlock: number | undefined): void {
    const { connection, echo } = subscription
    this.keep(subscription)
    connection.send(ackFrame('subscribe', echo))
    if (fromBlock === undefined) return
    const text = `fromBlock: block ${fromBlock} cannot be replayed; live data follows. Leave "fromBlock" out.`
    connection.send(errorFrame(text, 'replay_unavailable'))
  }

  keep(subscription: Subscription): void {
    const { connection, identity } = subscription
    const held = of(this.#held, connection).set(identity, subscription)
    this.#held.set(connection, held)
    this.#size++
    this.#ports.saved(subscription)
  }

  /** Its paid time has moved. */
  changed(subscription: Subscription): void {
    const { connection, identity, minutes } = subscription
    if (this.heldBy(connection).get(identity)?.minutes === minutes) this.#ports.saved(subscription)
  }

  /** The subscription is over; `isUnserved`: we could not serve it, and the minute is given back. */
  drop(subscription: Subscription, isUnserved = false): void {
    const { connection, minutes } = subscription
    this.release(subscription)
    this.accountOf(connection).stop(minutes, isUnserved || (minutes.held !== undefined && connection.isBroken))
    this.#ports.dropped(subscription)
  }

  /** It gets nothing more, and its minutes are another's. */
  release(subscription: Subscription): void {
    const { wanted, connection, identity } = subscription
    const books = this.#books
    const fanouts = { books, views: books.views, events: this.#events, states: this.#states }
    if (wanted.source === 'l4') this.#l4Ended(wanted.body.coin, connection)
    else fanouts[wanted.source].remove(topicKey(subscription), connection)
    const held = this.#held.get(connection)
    if (held?.delete(identity)) this.#size--
    if (held?.size === 0) this.#held.delete(connection)
  }
}
