// Whose order statuses and rows of order-level books relays want, as feeders are told of it. Law: feeders are asked for
// what some relay wants, and for what one wanted whose link has just ended, because it will ask for the blocks that it
// misses; a log that woke takes nothing back before the relays had time to say what they want. The object of an
// order-level book is one that wants its coin.

import type { AttachRequest, RelayInterest } from '../protocol/feed/log-api.ts'
import { L4_COINS_MAX, WATCHED_WALLETS_MAX, type WantFrame } from '../protocol/feed/protocol.ts'
import { InterestCounts, type Interests, wantFrameParts } from './interest-counts.ts'

/** Changes of so long a time are told together. */
const NOTIFY_MS = 250
/** A relay is back by then, or its sockets are gone. */
const LINGER_MS = 30_000

const KINDS = ['orders', 'l4'] as const
type Kind = (typeof KINDS)[number]

/** What a relay wants, and since when its link has been down. */
interface ReaderInterest {
  readonly names: Readonly<Record<Kind, Set<string>>>
  leftMs: number | null
}

export class OrderInterests {
  readonly #broadcast: (frame: WantFrame) => void
  readonly #names = { orders: new InterestCounts(WATCHED_WALLETS_MAX), l4: new InterestCounts(L4_COINS_MAX) }
  readonly #readers = new Map<string, ReaderInterest>()
  /** Null once relays had time to come back. */
  #wokeMs: number | null
  #isScheduled = false

  /** `broadcast` tells every feeder. */
  constructor(broadcast: (frame: WantFrame) => void, nowMs: number) {
    this.#broadcast = broadcast
    this.#wokeMs = nowMs
  }

  /** A reader has a new link. Answers what it wants, now and later. */
  onAttached({ name, reader, orders = [], l4 = [] }: AttachRequest): Interests {
    const coins = reader.kind === 'l4' ? [reader.coin] : l4
    return this.#update(name, { whole: true, orders: { add: orders, drop: [] }, l4: { add: coins, drop: [] } })
  }

  /** What a relay says on its link. Answers whether it woke. */
  onMessage(relay: string, text: string): boolean {
    const said = JSON.parse(text) as RelayInterest
    if (said.t === 'want') this.#update(relay, said)
    return said.whole === true
  }

  #update(reader: string, said: Pick<RelayInterest, 'whole' | 'orders' | 'l4'>): Interests {
    const asked = this.#readers.get(reader) ?? { names: { orders: new Set(), l4: new Set() }, leftMs: null }
    this.#readers.set(reader, asked)
    asked.leftMs = null
    for (const kind of KINDS) {
      const names = asked.names[kind]
      const { add = [], drop = [] } = said[kind] ?? {}
      const gone = (said.whole ? [...names] : drop).filter((name) => names.delete(name))
      const come = add.filter((name) => !names.has(name))
      for (const name of come) names.add(name)
      this.#names[kind].add(come)
      this.#names[kind].remove(gone)
      if (come.length + gone.length > 0) this.#scheduleNotify()
    }
    return asked.names
  }

  /** The link of a reader ended. */
  onLeft(reader: string, nowMs: number): void {
    const asked = this.#readers.get(reader)
    if (asked) asked.leftMs = nowMs
  }

  /** Forgets relays that stay away. To be called every few seconds while feeders are connected. */
  tick(nowMs: number): void {
    for (const [relay, { names, leftMs }] of this.#readers) {
      if (leftMs === null || nowMs - leftMs < LINGER_MS) continue
      this.#readers.delete(relay)
      for (const kind of KINDS) this.#names[kind].remove(names[kind])
      this.#scheduleNotify()
    }
    if (this.#wokeMs === null || nowMs - this.#wokeMs < LINGER_MS) return
    this.#wokeMs = null
    for (const frame of this.initialFrames()) this.#broadcast(frame)
  }

  /** What a feeder is to hear before its welcome. */
  *initialFrames(): Generator<WantFrame, void> {
    yield { type: 'want', orders: { add: [], drop: [] }, payments: true }
    const isWhole = this.#wokeMs === null
    const orders = { add: [...this.#names.orders.sent], drop: [] }
    const l4 = { add: [...this.#names.l4.sent], drop: [] }
    if (!isWhole && orders.add.length + l4.add.length === 0) return
    for (const part of wantFrameParts({ orders, l4 }, isWhole)) yield { type: 'want', ...part }
  }

  #scheduleNotify(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.notifyFeeders()
    }, NOTIFY_MS)
  }

  /** Whether feeders were told of all of these users: beyond a bound there is no room for them. */
  areSent(orders: readonly string[]): boolean {
    return orders.every((name) => this.#names.orders.sent.has(name))
  }

  /** Tells feeders at once what has changed. */
  notifyFeeders(): void {
    const change = { orders: this.#names.orders.takeChange(), l4: this.#names.l4.takeChange() }
    if (!change.orders && !change.l4) return
    for (const part of wantFrameParts(change, false)) this.#broadcast({ type: 'want', ...part })
  }
}
