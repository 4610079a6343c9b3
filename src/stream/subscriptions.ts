// Subscriptions of one relay, from request to end. Law: known coin and DEX, then its turn, then charge, then ack, then data;
// requests of one socket take effect one after another, but that a body which waits for its books keeps nobody waiting.

import { canonicalJson } from '../core/canonical-json.ts'
import type { Failure } from '../core/failure.ts'
import type { RelayEvents } from '../feed/log-api.ts'
import { TOKEN_SUBSCRIPTIONS } from '../key/stream-token.ts'
import { MAX_ITEMS } from './body-fields.ts'
import { BookEntrance, type BookEntrancePorts } from './book-entrance.ts'
import type { BookFanout } from './books/book-fanout.ts'
import { readBody } from './catalogue.ts'
import { EVERY, echoOf, isToldAgain, minutePrice, type WantedEvents, type WantedStates } from './channel.ts'
import { Candles } from './events/candles.ts'
import type { EventFanout } from './events/event-fanout.ts'
import { type FirstFramePorts, FirstFrames } from './events/first-frames.ts'
import { FundingPayments } from './events/funding-payments.ts'
import { OutcomeChanges } from './events/outcome-changes.ts'
import { type ReplayPorts, Replays } from './events/replays.ts'
import { refusedSubscription } from './failure-frame.ts'
import { ackFrame, alreadySubscribed, alreadyUnsubscribed } from './frames.ts'
import { type DexPorts, refusalOfDex } from './known-dex.ts'
import type { L4Fanout } from './l4/l4-fanout.ts'
import { L4Entrance, type L4EntrancePorts } from './l4-entrance.ts'
import { wokenMinutes } from './minutes/minutes.ts'
import type { ReplayFrame, SubscribeFrame, UnsubscribeFrame } from './protocol.ts'
import { NOT_READY, Register, type RegisterPorts } from './register.ts'
import { ReplayDesk, type ReplayDeskPorts } from './replay/replay-desk.ts'
import { Backlog } from './sockets/backlog.ts'
import type { Connection } from './sockets/connection.ts'
import { StateFanout, type StatePorts } from './states/state-fanout.ts'
import { type Request, type Subscription, topicKey } from './subscription.ts'
import { TOKEN_IS_FULL, tokenRefusal } from './token-refusal.ts'
import { ViewEntrance, type ViewEntrancePorts } from './view-entrance.ts'

/** Of one socket, whatever its plan; an account's subscriptions may lie on many sockets. */
const MAX_SUBSCRIPTIONS_PER_SOCKET = 1000
const SOCKET_IS_FULL: Failure = {
  kind: 'limit_reached',
  limit: 'subscription',
  most: MAX_SUBSCRIPTIONS_PER_SOCKET,
  hint: `subscription: at most ${MAX_SUBSCRIPTIONS_PER_SOCKET} subscriptions per connection: open another one`,
}
/** Wallets and coins of events: each takes some 200 bytes, and a thousand of them cost a credit a minute. */
const MAX_NAMES = 250_000
const CROWDED: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: 'as many wallets are watched here as can be: open another connection, which leads elsewhere',
}

export interface Ports
  extends RegisterPorts,
    BookEntrancePorts,
    DexPorts,
    FirstFramePorts,
    ReplayPorts,
    ViewEntrancePorts,
    StatePorts,
    L4EntrancePorts,
    ReplayDeskPorts {}

export class Subscriptions {
  readonly backlog = new Backlog()
  readonly #ports: Ports
  readonly #books: BookFanout<Connection>
  readonly #events: EventFanout<Connection>
  readonly #register: Register
  readonly #entrance: BookEntrance
  readonly #views: ViewEntrance
  readonly #funding: FundingPayments<Connection>
  readonly #outcomes: OutcomeChanges<Connection>
  readonly #candles: Candles<Connection>
  readonly #first: FirstFrames<Connection>
  readonly #replays: Replays<Connection>
  readonly #desk: ReplayDesk
  readonly #states: StateFanout<Connection>
  readonly #l4: L4Fanout<Connection>
  readonly #orders: L4Entrance

  constructor(ports: Ports, books: BookFanout<Connection>, events: EventFanout<Connection>, l4: L4Fanout<Connection>) {
    this.#l4 = l4
    this.#ports = ports
    this.#books = books
    this.#events = events
    this.#states = new StateFanout(ports, events)
    this.#register = new Register(ports, books, events, this.#states, (coin, one) => this.#orders.remove(coin, one))
    this.#orders = new L4Entrance(ports, this.#register, l4)
    this.#entrance = new BookEntrance(ports, this.#register, books, this.backlog)
    this.#views = new ViewEntrance(ports, this.#register, books.views)
    this.#funding = new FundingPayments(ports, events)
    this.#outcomes = new OutcomeChanges(ports, events)
    this.#candles = new Candles(ports, events)
    this.#first = new FirstFrames(ports, events, (wanted, rows) => this.#funding.had(wanted, rows))
    this.#replays = new Replays(ports, events)
    this.#desk = new ReplayDesk(ports, this.#register, (...one) => this.#replay(...one))
  }

  get size(): number {
    return this.#register.size
  }

  /** Blocks are needed beyond what events of them are subscribed to. */
  get needsBlocks(): boolean {
    return this.#states.needsBlocks
  }

  /** A body of events may find no room: new sockets are better off elsewhere. */
  get isCrowded(): boolean {
    return this.#events.names > MAX_NAMES - MAX_ITEMS || this.#views.isFull || this.#states.isFull
  }

  /** Requests at work: while there are some, coins may be in force at hubs that no subscription names yet. */
  get busy(): number {
    return this.#register.busy
  }

  /** Resolves when the request was answered, or waits for its turn to be given books. */
  async subscribe(connection: Connection, frame: SubscribeFrame): Promise<void> {
    const parsed = readBody(frame.subscription)
    const body = parsed.ok ? echoOf(frame.subscription, parsed.value) : frame.subscription
    const echo = JSON.stringify(body)
    const identity = canonicalJson(body)
    const refuse = (failure: Failure) =>
      connection.refuse(failure, refusedSubscription(echo, failure), parsed.ok ? parsed.value.channel.type : '')
    if (!parsed.ok) return refuse({ kind: 'bad_field', issues: [parsed.error] })
    const wanted = parsed.value
    const outside = tokenRefusal(connection, wanted, frame)
    if (outside) return refuse(outside)
    const held = this.#register.heldBy(connection)
    const joins = this.#entrance.joinsOf(connection)
    if (held.has(identity) || joins.has(identity) || this.#desk.has(connection, identity))
      return connection.send(alreadySubscribed(echo))
    const isToken = connection.identity.token !== undefined
    if (held.size + joins.size >= (isToken ? TOKEN_SUBSCRIPTIONS : MAX_SUBSCRIPTIONS_PER_SOCKET))
      return refuse(isToken ? TOKEN_IS_FULL : SOCKET_IS_FULL)
    const { meta = false, fromBlock } = frame
    const request = { connection, identity, echo, wanted, meta, fromBlock }
    if (frame.replay) return this.#register.mayTry(request) ? this.#desk.begin(request, frame.replay) : undefined
    const begin = async () => {
      const noDex = await refusalOfDex(wanted, this.#ports)
      if (noDex) return this.#register.refuse(request, noDex)
      if (wanted.source === 'views') return this.#views.begin(request, wanted)
      if (wanted.source === 'l4') return this.#orders.begin(request, wanted)
      if (wanted.source === 'states') return this.#beginStates(request, wanted)
      return wanted.source === 'books' ? this.#entrance.begin(request, wanted) : this.#beginEvents(request, wanted)
    }
    await this.#register.atWork(begin).catch((error) => this.#ports.failed(connection, error))
  }

  unsubscribe(connection: Connection, frame: UnsubscribeFrame): void {
    const parsed = readBody(frame.subscription)
    const body = parsed.ok ? echoOf(frame.subscription, parsed.value) : frame.subscription
    const echo = JSON.stringify(body)
    const identity = canonicalJson(body)
    const subscription = this.#register.heldBy(connection).get(identity)
    if (subscription) this.#register.drop(subscription)
    else if (this.#entrance.joinsOf(connection).has(identity)) this.#entrance.withdraw(connection, identity)
    else if (!this.#desk.stop(connection, identity)) return connection.send(alreadyUnsubscribed(echo))
    connection.send(ackFrame('unsubscribe', echo))
  }

  /** Pauses, resumes or moves the replay of a body. */
  steer(connection: Connection, frame: ReplayFrame): void {
    const parsed = readBody(frame.subscription)
    const body = parsed.ok ? echoOf(frame.subscription, parsed.value) : frame.subscription
    this.#desk.steer(connection, canonicalJson(body), frame)
  }

  /** A block came from the log, with rows of order-level books. */
  deliver(block: RelayEvents, rows: ReadonlyMap<string, string> = new Map()): void {
    try {
      this.#events.deliver(block)
      this.#states.deliver(block)
    } finally {
      // Of a large coin hundreds of kilobytes for each who wants them: the others do not wait for that.
      this.#l4.push({ height: block.height, time: block.time, epoch: block.epoch ?? null }, rows)
    }
    if (block.funding?.length) this.#ports.waitUntil(this.#funding.follow(block))
    this.#ports.waitUntil(this.#outcomes.follow(block))
    this.#ports.waitUntil(this.#candles.follow(block))
  }

  /** The connection has ended: so have its subscriptions. */
  ended(connection: Connection): void {
    for (const subscription of [...this.#register.heldBy(connection).values()]) this.#register.drop(subscription)
    for (const identity of this.#entrance.joinsOf(connection)) this.#entrance.withdraw(connection, identity)
    this.#desk.ended(connection)
  }

  /** To be called every ten seconds. */
  tick(): void {
    this.#entrance.tick()
    this.#orders.tick()
  }

  /** Rows of a coin were lost: these subscribers begin with another Snapshot. */
  l4Again(coin: string, connections: readonly Connection[]): void {
    this.#orders.again(coin, connections)
  }

  /** Resolves when every body that is on its way to its books has them, or was refused. */
  joined(): Promise<void> {
    return this.#entrance.joined()
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
    const visitorsPerHour = connection.identity.token?.visitors?.perHour
    const begun = { id, keyHash, type: sent.type, price: minutePrice(wanted), body: digest, sinceMs, visitorsPerHour }
    const minutes = wokenMinutes(begun, this.#ports.clock.nowMs)
    this.#register.accountOf(connection).run(minutes, connection)
    const identity = canonicalJson(sent)
    const subscription = { connection, identity, wanted, echo: saved.echo, meta: saved.meta, minutes }
    this.#register.keep(subscription)
    this.#fanOut(subscription)
  }

  async #beginEvents(request: Request, wanted: WantedEvents): Promise<void> {
    const { channel, body } = wanted
    const isUp = await this.#ports.ensureEvents().then(
      () => true,
      () => false,
    )
    if (!isUp) return this.#register.refuse(request, NOT_READY)
    const coins = channel.by === 'coin' ? channel.names(body).filter((coin) => coin !== EVERY) : []
    const has = await Promise.all(coins.map((coin) => this.#ports.hasBook(coin)))
    const unknown = coins.filter((_, index) => has[index] === false)
    if (unknown.length > 0) return this.#register.refuseCoins(request, unknown)
    const minutes = await this.#register.pay(request)
    if (!minutes) return
    const { connection } = request
    const isCrowded = this.#events.names + channel.names(body).length > MAX_NAMES
    if (isCrowded) this.#register.refuse(request, CROWDED)
    if (isCrowded || connection.ended) return this.#register.accountOf(connection).stop(minutes, true)
    const subscription = { ...request, minutes }
    // Before it is acknowledged, which may end the connection and all that it has.
    const isReplayed = request.fromBlock !== undefined && isToldAgain(channel)
    if (isReplayed) this.#replay(subscription, wanted, request.fromBlock)
    else this.#fanOut(subscription, true)
    this.#register.begin(subscription, isReplayed ? undefined : request.fromBlock)
  }

  #replay(subscription: Subscription, wanted: WantedEvents, from: number): void {
    const { connection, meta, echo } = subscription
    const key = topicKey(subscription)
    this.#ports.waitUntil(this.#replays.begin({ key, receiver: connection, echo, next: from }, wanted, meta))
  }

  async #beginStates(request: Request, { channel, body }: WantedStates): Promise<void> {
    const coin = channel.coin?.(body)
    if (coin !== undefined && (await this.#ports.hasBook(coin)) === false)
      return this.#register.refuseCoins(request, [coin])
    const minutes = await this.#register.pay(request)
    if (!minutes) return
    const { connection } = request
    const { isFull } = this.#states
    if (isFull) this.#register.refuse(request, CROWDED)
    if (isFull || connection.ended) return this.#register.accountOf(connection).stop(minutes, true)
    const subscription = { ...request, minutes }
    this.#fanOut(subscription)
    // Without blocks a state is read every few seconds alone.
    if (this.#states.needsBlocks) this.#ports.waitUntil(this.#ports.ensureEvents().catch(() => undefined))
    this.#register.begin(subscription, request.fromBlock)
  }

  /** `isNew`: it is first to be told what was before, where its channel tells that. */
  #fanOut(subscription: Subscription, isNew = false): void {
    const { wanted, connection, meta } = subscription
    const key = topicKey(subscription)
    if (wanted.source === 'l4') this.#orders.join({ ...subscription, wanted })
    else if (wanted.source === 'states') this.#states.add(key, wanted, connection, connection.identity.account)
    else if (wanted.source === 'books') this.#books.add(key, wanted, connection)
    else if (wanted.source === 'views') this.#views.resume(key, wanted, connection)
    else if (!isNew || !wanted.channel.past) {
      this.#events.add(key, wanted, meta, connection)
      this.#candles.joined(wanted)
    } else this.#ports.waitUntil(this.#first.begin(key, wanted, meta, connection))
  }
}
