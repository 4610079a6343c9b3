// Subscriptions of one relay, from request to end: who has what, what was paid for it, and in which order a client
// hears of it. Law: known coin, then charge, then ack, then data; nothing of a refused request stays behind.
// A little long: the order of these steps is the contract, and stands in one place.

import { canonicalJson } from '../core/canonical-json.ts'
import { marketTypeOf } from '../core/coin.ts'
import { type Failure, KEY_ENDED } from '../core/failure.ts'
import type { BookBody } from './body-fields.ts'
import type { BookFanout } from './books/book-fanout.ts'
import { hubsOf } from './books/book-fanout.ts'
import { Joiner } from './books/joiner.ts'
import type { BookSource, Found, Seeding } from './books/snapshots.ts'
import { noBookOf, Snapshots } from './books/snapshots.ts'
import { readBody } from './catalogue.ts'
import { EVERY, minutePrice, type Wanted, type WantedBooks, type WantedEvents } from './channel.ts'
import type { EventFanout } from './events/event-fanout.ts'
import { refusedSubscription } from './failure-frame.ts'
import { ackFrame, alreadySubscribed, alreadyUnsubscribed, errorFrame } from './frames.ts'
import type { Account } from './minutes/account.ts'
import type { Accounts } from './minutes/accounts.ts'
import type { Minutes } from './minutes/minutes.ts'
import { wokenMinutes } from './minutes/minutes.ts'
import { refusal } from './minutes/refusal.ts'
import type { SubscribeFrame, UnsubscribeFrame } from './protocol.ts'
import type { Clock, Connection } from './sockets/connection.ts'

/** Of one socket, whatever its plan; an account's subscriptions may lie on many sockets. */
const MAX_SUBSCRIPTIONS_PER_SOCKET = 1000
const SOCKET_IS_FULL: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: MAX_SUBSCRIPTIONS_PER_SOCKET,
  hint: `subscription: at most ${MAX_SUBSCRIPTIONS_PER_SOCKET} subscriptions per connection: open another one`,
}
const NOT_READY: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: 'the data is not ready yet: subscribe again in a few seconds',
}

export interface Subscription {
  readonly connection: Connection
  readonly identity: string
  readonly wanted: Wanted
  /** JSON of the body as sent. */
  readonly echo: string
  readonly meta: boolean
  readonly minutes: Minutes
}

export interface Ports {
  readonly shards: number
  readonly clock: Clock
  readonly books: BookSource
  readonly accounts: Accounts
  /** Digest of a body's text. */
  digest(text: string): Promise<string>
  newId(): string
  /** False where it is certain that this coin has no book. */
  hasBook(coin: string): Promise<boolean>
  /** The coin that was probably meant by one that has no book. */
  nearestCoin(coin: string): Promise<string | undefined>
  wait(ms: number): Promise<void>
  /** The link to the log is up. */
  ensureEvents(): Promise<void>
  /** Remembers or forgets a subscription across hibernation. */
  saved(subscription: Subscription): void
  dropped(subscription: Subscription): void
}

type BookSubscription = Subscription & { readonly wanted: WantedBooks }

interface Request {
  readonly connection: Connection
  readonly identity: string
  readonly echo: string
  readonly wanted: Wanted
  readonly meta: boolean
}

export class Subscriptions {
  readonly #ports: Ports
  readonly #books: BookFanout<Connection>
  readonly #events: EventFanout<Connection>
  readonly #held = new Map<Connection, Map<string, Subscription>>()
  #size = 0
  readonly #snapshots: Snapshots
  #busy = 0

  constructor(ports: Ports, books: BookFanout<Connection>, events: EventFanout<Connection>) {
    this.#ports = ports
    this.#books = books
    this.#events = events
    this.#snapshots = new Snapshots(ports.books, ports.shards, ports.clock, (ms) => ports.wait(ms))
  }

  get size(): number {
    return this.#size
  }

  /** Requests at work: while there are some, coins may be in force at hubs that no subscription names yet. */
  get busy(): number {
    return this.#busy
  }

  async subscribe(connection: Connection, frame: SubscribeFrame): Promise<void> {
    const echo = JSON.stringify(frame.subscription)
    const identity = canonicalJson(frame.subscription)
    const parsed = readBody(frame.subscription)
    if (!parsed.ok) return connection.send(refusedSubscription(echo, { kind: 'bad_field', issues: [parsed.error] }))
    const held = this.#heldBy(connection)
    if (held.has(identity)) return connection.send(alreadySubscribed(echo))
    if (held.size >= MAX_SUBSCRIPTIONS_PER_SOCKET) {
      return connection.send(refusedSubscription(echo, SOCKET_IS_FULL))
    }
    const request = { connection, identity, echo, wanted: parsed.value, meta: frame.meta === true }
    this.#busy++
    try {
      await this.#begin(request, frame.fromBlock)
    } finally {
      this.#busy--
    }
  }

  unsubscribe(connection: Connection, frame: UnsubscribeFrame): void {
    const echo = JSON.stringify(frame.subscription)
    const subscription = this.#heldBy(connection).get(canonicalJson(frame.subscription))
    if (!subscription) return connection.send(alreadyUnsubscribed(echo))
    this.#drop(subscription)
    connection.send(ackFrame('unsubscribe', echo))
  }

  /** The connection has ended: so have its subscriptions. */
  ended(connection: Connection): void {
    for (const subscription of this.#held.get(connection)?.values() ?? []) this.#drop(subscription)
    this.#held.delete(connection)
  }

  /** Takes up a subscription that slept with the relay; it goes on where it was. */
  restore(
    connection: Connection,
    saved: { id: string; echo: string; digest: string; meta: boolean; sinceMs: number },
  ): void {
    const sent = JSON.parse(saved.echo) as { type: string }
    const read = readBody(sent)
    if (!read.ok) return
    const wanted = read.value
    const { id, sinceMs, digest } = saved
    const { keyHash } = connection.identity
    const begun = { id, keyHash, type: sent.type, price: minutePrice(wanted), body: digest, sinceMs }
    const minutes = wokenMinutes(begun, this.#ports.clock.nowMs)
    this.#accountOf(connection).run(minutes, connection)
    const identity = canonicalJson(sent)
    const subscription = { connection, identity, wanted, echo: saved.echo, meta: saved.meta, minutes }
    this.#hold(subscription)
    this.#fanOut(subscription)
  }

  async #begin(request: Request, fromBlock: number | undefined): Promise<void> {
    const { connection, wanted } = request
    const isBooks = wanted.source === 'books'
    const began = isBooks ? await this.#beginBooks(request, wanted) : await this.#beginEvents(request, wanted)
    if (!began || fromBlock === undefined) return
    const text = `fromBlock: block ${fromBlock} cannot be replayed; live data follows. Leave "fromBlock" out.`
    connection.send(errorFrame(text, 'replay_unavailable'))
  }

  async #beginEvents(request: Request, { channel, body }: WantedEvents): Promise<boolean> {
    if (!(await this.#reach(request, [this.#ports.ensureEvents()]))) return false
    const coins = channel.by === 'coin' ? channel.names(body).filter((coin) => coin !== EVERY) : []
    const has = await Promise.all(coins.map((coin) => this.#ports.hasBook(coin)))
    const unknown = coins.filter((_, index) => !has[index])
    if (unknown.length > 0) return this.#unknown(request, unknown)
    const minutes = await this.#pay(request)
    if (!minutes) return false
    const subscription = { ...request, minutes }
    this.#hold(subscription)
    request.connection.send(ackFrame('subscribe', request.echo))
    this.#fanOut(subscription)
    return true
  }

  async #beginBooks(request: Request, wanted: WantedBooks): Promise<boolean> {
    const { connection, echo } = request
    const hubs = hubsOf(wanted.body, this.#ports.shards)
    if (
      !(await this.#reach(
        request,
        hubs.map((hub) => this.#ports.books.ensure(hub)),
      ))
    )
      return false
    const before = this.#wildcardOf(connection, wanted)
    const key = topicKey(request)
    const seeding = this.#seeding(connection, wanted, before)
    // Blocks are collected from before the coins come into force, so that none falls between.
    if (seeding) this.#books.add(key, wanted, connection, seeding.joiner)
    const found = await this.#find(request, wanted, hubs, before?.wanted.body)
    const digest = before && found && (await this.#ports.digest(request.identity))
    const minutes = found && (before ? before.minutes : await this.#pay(request))
    if (!found || !minutes || connection.ended) {
      if (seeding) this.#books.remove(key, connection)
      return false
    }
    if (before && digest) this.#replace(before, digest, seeding)
    this.#hold({ ...request, minutes })
    connection.send(ackFrame('subscribe', echo))
    if (seeding) await this.#snapshots.serve(seeding, found)
    else this.#books.add(key, wanted, connection)
    return true
  }

  /** False, and the client was told, where what a subscription lives on cannot be reached. */
  async #reach(request: Request, links: readonly Promise<void>[]): Promise<boolean> {
    try {
      await Promise.all(links)
      return true
    } catch {
      return this.#unavailable(request)
    }
  }

  #unavailable({ connection, echo }: Request): false {
    connection.send(refusedSubscription(echo, NOT_READY))
    return false
  }

  /** The wildcard of the same channel that this one takes over from. */
  #wildcardOf(connection: Connection, { channel, body }: WantedBooks): BookSubscription | undefined {
    if (body.coins !== null) return undefined
    return [...this.#heldBy(connection).values()].find(
      (held): held is BookSubscription =>
        held.wanted.channel === channel && (held.wanted.body as BookBody).coins === null,
    )
  }

  /** How Snapshots come to the subscriber, null on a channel without them. */
  #seeding(connection: Connection, { channel }: WantedBooks, before: BookSubscription | undefined): Seeding | null {
    if (!channel.snapshot) return null
    const joiner = new Joiner(channel, before && this.#books.joinerOf(topicKey(before), connection))
    return { connection, joiner, encode: channel.snapshot }
  }

  /** The old body ends without its minutes, which go over; what it has delivered is not delivered again. */
  #replace(before: BookSubscription, digest: string, seeding: Seeding | null): void {
    seeding?.joiner.forget((coin) => before.wanted.body.types.includes(marketTypeOf(coin)))
    this.#books.remove(topicKey(before), before.connection)
    this.#heldBy(before.connection).delete(before.identity)
    before.minutes.body = digest
    this.#size--
  }

  /** What the body's coins are; null, and the client was told, where hubs cannot answer or a coin is unknown. */
  async #find(
    request: Request,
    wanted: WantedBooks,
    hubs: readonly number[],
    before?: BookBody,
  ): Promise<Found | null> {
    const types = wanted.body.types.filter((type) => !before?.types.includes(type))
    const found = await this.#snapshots.find(wanted, types, hubs).catch(() => null)
    if (!found) this.#unavailable(request)
    if (!found || found.unknown.length === 0) return found
    await this.#unknown(request, found.unknown)
    return null
  }

  async #unknown({ connection, echo }: Request, coins: readonly string[]): Promise<false> {
    connection.send(refusedSubscription(echo, await noBookOf(coins, this.#ports.nearestCoin)))
    return false
  }

  /** The first minute, or the rest of one that was paid before; null, and the client was told, where it is refused. */
  async #pay(request: Request): Promise<Minutes | null> {
    const { connection, echo, wanted, identity } = request
    const account = this.#accountOf(connection)
    const place = { id: this.#ports.newId(), keyHash: connection.identity.keyHash, type: wanted.channel.type }
    const digest = await this.#ports.digest(identity)
    const sinceMs = this.#ports.clock.nowMs
    const minutes: Minutes = { ...place, price: minutePrice(wanted), body: digest, sinceMs, paid: 0 }
    const answer = await account.begin(minutes, connection).catch(() => null)
    if (!answer?.ok) {
      if (answer?.reason === 'revoked') connection.fail(KEY_ENDED)
      else
        connection.send(
          refusedSubscription(echo, answer ? refusal(answer, minutes.price, connection.identity) : NOT_READY),
        )
      return null
    }
    if (!connection.ended) return minutes
    account.stop(minutes)
    return null
  }

  #accountOf({ identity }: Connection): Account {
    return this.#ports.accounts.of(identity.account)
  }

  #heldBy(connection: Connection): Map<string, Subscription> {
    let held = this.#held.get(connection)
    if (!held) {
      held = new Map()
      if (!connection.ended) this.#held.set(connection, held)
    }
    return held
  }

  #hold(subscription: Subscription): void {
    this.#heldBy(subscription.connection).set(subscription.identity, subscription)
    this.#size++
    this.#ports.saved(subscription)
  }

  #fanOut(subscription: Subscription): void {
    const { wanted, connection, meta } = subscription
    if (wanted.source === 'books') this.#books.add(topicKey(subscription), wanted, connection)
    else this.#events.add(topicKey(subscription), wanted, meta, connection)
  }

  #drop(subscription: Subscription): void {
    const { wanted, connection, identity, minutes } = subscription
    if (wanted.source === 'books') this.#books.remove(topicKey(subscription), connection)
    else this.#events.remove(topicKey(subscription), connection)
    this.#heldBy(connection).delete(identity)
    this.#size--
    this.#accountOf(connection).stop(minutes)
    this.#ports.dropped(subscription)
  }
}

/** Bodies that get the very same frames. */
function topicKey({ identity, meta }: { readonly identity: string; readonly meta: boolean }): string {
  return meta ? `meta ${identity}` : identity
}
