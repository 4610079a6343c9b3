// Subscriptions of one relay, from request to end. Invariant: requests of one socket take effect in order, but a body
// that waits for its books blocks nobody.

import { canonicalJson } from '../../core/canonical-json.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { refusedSubscription } from '../../protocol/relay/failure-frame.ts'
import { ackFrame, alreadySubscribed, alreadyUnsubscribed } from '../../protocol/relay/frames.ts'
import type { ReplayFrame, SubscribeFrame, UnsubscribeFrame } from '../../protocol/relay/protocol.ts'
import type { BookFanout } from '../books/book-fanout.ts'
import { echoOf, minutePrice, type Target } from '../channel.ts'
import { readBody } from '../channels/catalogue.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import type { L4Fanout } from '../l4/l4-fanout.ts'
import { restoredMinutes } from '../minutes/minutes.ts'
import { Backlog } from '../sockets/backlog.ts'
import type { Connection } from '../sockets/connection.ts'
import type { StateFanout } from '../states/state-fanout.ts'
import { BooksSource } from './books-source.ts'
import { EventsSource } from './events-source.ts'
import { OrdersSource } from './orders-source.ts'
import { dexFailure, limitFailure, tokenFailure } from './refusals.ts'
import { reject, SubscriptionRegistry } from './registry.ts'
import { ReplayService } from './replay-service.ts'
import { StatesSource } from './states-source.ts'
import type { Claim, Ports, Request, SubscriptionSource } from './subscription.ts'
import { ViewsSource } from './views-source.ts'

/** The fan-outs by kind of channel. */
export interface Fanouts {
  readonly events: EventFanout<Connection>
  readonly books: BookFanout<Connection>
  readonly states: StateFanout<Connection>
  readonly l4: L4Fanout<Connection>
}

export class Subscriptions {
  readonly backlog = new Backlog()
  readonly #ports: Ports
  readonly #fanouts: Fanouts
  readonly #registry: SubscriptionRegistry
  readonly #events: EventsSource
  readonly #books: BooksSource
  readonly #views: ViewsSource
  readonly #orders: OrdersSource
  readonly #sources: Readonly<Record<Target['source'], SubscriptionSource>>
  readonly #replays: ReplayService

  constructor(ports: Ports, fanouts: Fanouts) {
    this.#ports = ports
    this.#fanouts = fanouts
    const registry = new SubscriptionRegistry(ports)
    const events = new EventsSource(ports, fanouts.events)
    const books = new BooksSource(ports, registry, fanouts.books, this.backlog)
    const views = new ViewsSource(ports, fanouts.books.views)
    const orders = new OrdersSource(ports, registry, fanouts.l4)
    this.#registry = registry
    this.#events = events
    this.#books = books
    this.#views = views
    this.#orders = orders
    this.#sources = { events, books, views, l4: orders, states: new StatesSource(ports, fanouts.states) }
    this.#replays = new ReplayService(ports, registry, (subscription, from) => events.replay(subscription, from))
  }

  get size(): number {
    return this.#registry.size
  }

  /** True if another body may not fit. New sockets should then go to another relay. */
  get isCrowded(): boolean {
    return this.#events.isCrowded || this.#views.capacity() !== null || this.#fanouts.states.isFull
  }

  /**
   * Processes a subscribe frame up to its acknowledgement, in the same order for every source:
   *
   *   parse ─▶ limits ─▶ validate ─▶ queue ─▶ pay ─▶ capacity ─▶ attach ─▶ acknowledge ─▶ seed
   *   frame    socket,   DEX, links,  whole            of the      to the                  Snapshots
   *            token     coins        books            relay       fan-out
   *
   * Resolves when the request has been answered, or waits in the queue for full books.
   */
  async subscribe(connection: Connection, frame: SubscribeFrame): Promise<void> {
    const { parsed, echo, identity } = readTarget(frame.subscription)
    if (!parsed.ok) {
      const failure = { kind: 'bad_field', issues: [parsed.error] } as const
      return connection.reject(failure, refusedSubscription(echo, failure), '')
    }
    const target = parsed.value
    const { meta = false, fromBlock, replay } = frame
    const request = { connection, identity, echo, target, meta, fromBlock, source: this.#sources[target.source] }
    const outside = tokenFailure(connection, target, frame)
    if (outside) return reject(request, outside)
    const subscriptions = this.#registry.of(connection)
    const waiting = this.#books.pendingOf(connection)
    if (subscriptions.has(identity) || waiting.has(identity) || this.#replays.has(connection, identity))
      return connection.send(alreadySubscribed(echo))
    const full = limitFailure(connection, subscriptions.size + waiting.size)
    if (full) return reject(request, full)
    if (replay) return this.#registry.allowArchiveWork(request) ? this.#replays.start(request, replay) : undefined
    await this.#ports.withLinks(() => this.#start(request)).catch((error) => this.#ports.onError(connection, error))
  }

  async #start(request: Request): Promise<void> {
    const { source, target, connection } = request
    const failure = (await dexFailure(target, this.#ports)) ?? (await source.validate(target))
    if (failure) return this.#registry.rejectUnbilled(request, failure)
    if (source.queue) return source.queue(request, (claim) => this.#complete(request, claim))
    return this.#complete(request, {
      pay: () => this.#registry.pay(request),
      get isActive() {
        return !connection.isEnded
      },
      cancel: (minutes) => {
        if (minutes) this.#registry.refund(connection, minutes)
      },
    })
  }

  async #complete(request: Request, claim: Claim): Promise<void> {
    const { source, target } = request
    const minutes = await this.#ports.withLinks(() => claim.pay())
    // Nothing is awaited from here to the acknowledgement.
    const full = minutes && source.capacity?.(target)
    if (full) this.#registry.rejectUnbilled(request, full)
    if (!minutes || full || !claim.isActive) return claim.cancel(minutes)
    const subscription = { ...request, minutes }
    source.attach(subscription, claim)
    this.#registry.acknowledge(subscription)
    await source.seed?.(subscription, claim)
  }

  unsubscribe(connection: Connection, frame: UnsubscribeFrame): void {
    const { echo, identity } = readTarget(frame.subscription)
    const subscription = this.#registry.of(connection).get(identity)
    if (subscription) this.#registry.drop(subscription)
    else if (!this.#books.cancel(connection, identity) && !this.#replays.stop(connection, identity))
      return connection.send(alreadyUnsubscribed(echo))
    connection.send(ackFrame('unsubscribe', echo))
  }

  /** Pauses, resumes or seeks the replay of a body. */
  controlReplay(connection: Connection, frame: ReplayFrame): void {
    this.#replays.control(connection, readTarget(frame.subscription).identity, frame)
  }

  /** Delivers a block of the log, with the rows of order-level books. */
  deliver(block: RelayEvents, rows: ReadonlyMap<string, string> = new Map()): void {
    const { events, states, l4 } = this.#fanouts
    try {
      events.deliver(block)
      states.deliver(block)
    } finally {
      // The rows of a large coin take hundreds of kilobytes per subscriber, so they are sent last.
      l4.push({ height: block.height, time: block.time, epoch: block.epoch ?? null }, rows)
    }
    this.#events.onBlock(block)
  }

  /** Ends the subscriptions of a connection that ended. */
  onConnectionEnd(connection: Connection): void {
    for (const subscription of [...this.#registry.of(connection).values()]) this.#registry.drop(subscription)
    for (const identity of this.#books.pendingOf(connection)) this.#books.cancel(connection, identity)
    this.#replays.onConnectionEnd(connection)
  }

  /** Call it every ten seconds. */
  tick(): void {
    this.#books.tick()
    this.#orders.tick()
  }

  /** Resolves when every pending body has its books or has been rejected. */
  settled(): Promise<void> {
    return this.#books.settled()
  }

  /** Restores a saved subscription after hibernation. */
  restore(
    connection: Connection,
    saved: { id: string; echo: string; digest: string; meta: boolean; sinceMs: number },
  ): void {
    const { id, echo, digest, meta, sinceMs } = saved
    const sent = JSON.parse(echo) as { type: string }
    const body = readBody(sent)
    if (!body.ok) return
    const target = body.value
    const { keyHash, token } = connection.identity
    const price = minutePrice(target)
    const visitorsPerHour = token?.visitors?.perHour
    const started = { id, keyHash, type: sent.type, price, body: digest, sinceMs, visitorsPerHour }
    const minutes = restoredMinutes(started, this.#ports.clock.nowMs)
    this.#registry.accountOf(connection).resume(minutes, connection)
    const source = this.#sources[target.source]
    const identity = canonicalJson(sent)
    const subscription = { connection, identity, echo, target, source, meta, fromBlock: undefined, minutes }
    this.#registry.store(subscription)
    source.resume(subscription)
  }
}

/** Parses a frame's body, with its echo and identity. */
function readTarget(sent: SubscribeFrame['subscription']) {
  const parsed = readBody(sent)
  const body = parsed.ok ? echoOf(sent, parsed.value) : sent
  return { parsed, echo: JSON.stringify(body), identity: canonicalJson(body) }
}
