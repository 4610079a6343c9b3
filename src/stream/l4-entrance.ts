// The way of a body of orders to its Snapshot, the first one and each later one. Law: its coin is known, then it is charged
// and acknowledged, then it waits for the book and for its turn, while its minute stands still; who gets none in time is
// told so, is no subscriber any more, and gets that minute back.

import { backoffMs } from '../core/backoff.ts'
import type { Failure } from '../core/failure.ts'
import { Flights } from '../core/flights.ts'
import { L4_MOST } from '../feed/protocol.ts'
import type { L4Channel, WantedL4 } from './channel.ts'
import { refusedSubscription } from './failure-frame.ts'
import { waitingForSnapshot } from './frames.ts'
import type { L4Fanout } from './l4/l4-fanout.ts'
import { type LineGuest, SnapshotLine, type WholeText } from './l4/snapshot-line.ts'
import { letGo, standStill } from './minutes/minutes.ts'
import { NOT_READY, type Register } from './register.ts'
import type { Clock, Connection } from './sockets/connection.ts'
import type { Request, Subscription } from './subscription.ts'

/** A node writes its books in some seconds, and large ones go out one at a time. */
export const MAX_WAIT_MS = 180_000
const TELL_EVERY_MS = 20_000
/** A book is looked for after so long, and ever later: each look is a call for each coin, of which there may be hundreds. */
const LOOK = { firstMs: 250, capMs: 1000, jitter: 0 }

const CROWDED: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: 'as many books are shown here as can be: open another connection, which leads elsewhere',
}
/** In the public server's words. */
const NO_SNAPSHOT: Failure = {
  kind: 'unavailable',
  what: 'the data',
  hint: `Order book not ready for streaming (waiting for snapshot): none came in ${MAX_WAIT_MS / 1000} s: subscribe again`,
}

/** The objects of order-level books. */
interface L4Source {
  isReady(coin: string): Promise<boolean>
  fetch(coin: string, atLeast: number, snapshot: L4Channel<unknown>['snapshot']): Promise<WholeText | null>
}

export interface L4EntrancePorts {
  readonly clock: Clock
  readonly l4: L4Source
  wait(ms: number): Promise<void>
  hasBook(coin: string): Promise<boolean | null>
  ensureEvents(): Promise<void>
  waitUntil(work: Promise<unknown>): void
}

type L4Subscription = Subscription & { readonly wanted: WantedL4 }

interface Guest extends LineGuest {
  readonly receiver: Connection
  readonly subscription: L4Subscription
  readonly sinceMs: number
  toldMs: number
  isOver: boolean
}

export class L4Entrance {
  readonly #ports: L4EntrancePorts
  readonly #register: Register
  readonly #fanout: L4Fanout<Connection>
  readonly #line: SnapshotLine<Guest>
  readonly #guests = new Set<Guest>()
  /** Whether a book is there, asked once for all who wait for it. */
  readonly #looks = new Flights<boolean>(Number.POSITIVE_INFINITY)
  /** Whose text is fetched. */
  #channel: L4Channel<unknown> | null = null

  constructor(ports: L4EntrancePorts, register: Register, fanout: L4Fanout<Connection>) {
    this.#ports = ports
    this.#register = register
    this.#fanout = fanout
    this.#line = new SnapshotLine<Guest>({
      clock: ports.clock,
      wait: (ms) => ports.wait(ms),
      watch: (coin) => fanout.watch(coin),
      unwatch: (coin) => fanout.unwatch(coin),
      fetch: async (coin, atLeast) => ports.l4.fetch(coin, atLeast, this.#channel!.snapshot),
      handOut: ({ coin, receiver }, { place, text }) => fanout.handOut(coin, receiver, place.height, text),
    })
  }

  /** Resolves when the request was answered. */
  async begin(request: Request, wanted: WantedL4): Promise<void> {
    const { connection } = request
    const { coin } = wanted.body
    const isUp = await this.#ports.ensureEvents().then(
      () => true,
      () => false,
    )
    const hasBook = isUp ? await this.#ports.hasBook(coin) : null
    // Each coin that is wanted has an object, which is made of any name.
    if (hasBook === null) return this.#register.refuse(request, NOT_READY)
    if (!hasBook) return this.#register.refuseCoins(request, [coin])
    const minutes = await this.#register.pay(request)
    if (!minutes) return
    const isFull = this.#fanout.size >= L4_MOST
    if (isFull) this.#register.refuse(request, CROWDED)
    if (isFull || connection.ended) return this.#register.accountOf(connection).stop(minutes, true)
    const subscription = { ...request, wanted, minutes }
    // Before it is acknowledged, which may end the connection and all that it has.
    this.join(subscription)
    this.#register.begin(subscription, request.fromBlock)
  }

  /** Sends a subscription on its way, one that slept with the relay too. */
  join(subscription: L4Subscription): void {
    this.#fanout.add(subscription.wanted, subscription.connection)
    this.#seed(subscription)
  }

  /** Rows were lost: these subscribers begin with another Snapshot. */
  again(coin: string, connections: readonly Connection[]): void {
    for (const connection of connections)
      for (const held of this.#register.heldBy(connection).values())
        if (held.wanted.source === 'l4' && held.wanted.body.coin === coin) this.#seed(held as L4Subscription)
  }

  /** It is over. */
  remove(coin: string, connection: Connection): void {
    this.#fanout.remove(coin, connection)
    for (const guest of this.#guests) if (guest.coin === coin && guest.receiver === connection) this.#leave(guest)
  }

  /** To be called every ten seconds. */
  tick(): void {
    const { nowMs } = this.#ports.clock
    for (const guest of [...this.#guests]) {
      if (nowMs - guest.sinceMs >= MAX_WAIT_MS) this.#late(guest)
      else if (nowMs - guest.toldMs >= TELL_EVERY_MS) {
        guest.toldMs = nowMs
        guest.receiver.send(waitingForSnapshot(guest.subscription.wanted.channel.type, nowMs - guest.sinceMs))
      }
    }
  }

  #leave(guest: Guest): void {
    guest.isOver = true
    this.#guests.delete(guest)
    this.#line.leave(guest)
  }

  #late(guest: Guest): void {
    this.#leave(guest)
    const { subscription, receiver } = guest
    this.#register.drop(subscription, subscription.minutes.held !== undefined)
    receiver.send(refusedSubscription(subscription.echo, NO_SNAPSHOT))
  }

  #seed(subscription: L4Subscription): void {
    const { connection: receiver, wanted } = subscription
    const { nowMs } = this.#ports.clock
    const { account } = receiver.identity
    const guest: Guest = {
      account,
      coin: wanted.body.coin,
      receiver,
      subscription,
      sinceMs: nowMs,
      toldMs: nowMs,
      isOver: false,
    }
    this.#channel ??= wanted.channel
    standStill(subscription.minutes, nowMs, MAX_WAIT_MS)
    this.#guests.add(guest)
    this.#ports.waitUntil(this.#serve(guest))
  }

  async #serve(guest: Guest): Promise<void> {
    for (let looks = 0, isReady = false; !isReady; looks++) {
      isReady = await this.#isReady(guest.coin, backoffMs(LOOK, looks, 0))
      if (guest.isOver) return
    }
    if (!(await this.#line.enter(guest))) return
    this.#guests.delete(guest)
    const { minutes } = guest.subscription
    if (minutes.held === undefined) return
    letGo(minutes, this.#ports.clock.nowMs)
    this.#register.changed(guest.subscription)
  }

  /** Where it is not, the answer takes so long. */
  #isReady(coin: string, elseMs: number): Promise<boolean> {
    const { l4, wait, clock } = this.#ports
    const look = async () => (await l4.isReady(coin)) || wait(elseMs).then(() => false)
    return this.#looks.join(coin, look, clock.nowMs).result
  }
}
