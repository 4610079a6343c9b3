// Wallets and coins whose order rows the readers want, optional parts of blocks that they want, and the subset that
// feeders know. Invariants: an interest
// outlives its reader's link for a while, because the reader will return for the blocks that it missed; after a
// restart, the log withdraws no interest until readers have had time to report theirs. The object of an order-level
// book is interested in its own coin.

import type { AttachRequest, RelayInterest } from '../protocol/feed/log-api.ts'
import { L4_COINS_MAX, WATCHED_WALLETS_MAX, type WantFrame } from '../protocol/feed/protocol.ts'
import { InterestCounts, type Interests, wantFrameParts } from './interest-counts.ts'

/** Changes within this time are sent together. */
const NOTIFY_MS = 250
/** How long an interest outlives a link. A relay that has not returned by then has lost its clients' sockets. */
const LINGER_MS = 30_000

/** Extra parts of blocks that feeders always send, and the maximum number of parts that they send on request. */
const PARTS = ['oracle', 'writer'] as const
const MAX_REQUESTED_PARTS = 8
const NONE = { add: [], drop: [] }

const KINDS = ['orders', 'l4', 'parts'] as const
type Kind = (typeof KINDS)[number]

/** The interests of one reader, and the time at which its link ended. */
interface ReaderInterest {
  readonly names: Readonly<Record<Kind, Set<string>>>
  leftMs: number | null
}

export class OrderInterests {
  readonly #broadcast: (frame: WantFrame) => void
  readonly #names = {
    orders: new InterestCounts(WATCHED_WALLETS_MAX),
    l4: new InterestCounts(L4_COINS_MAX),
    parts: new InterestCounts(MAX_REQUESTED_PARTS),
  }
  readonly #readers = new Map<string, ReaderInterest>()
  /** When the log started; null once readers have had time to return. */
  #wokeMs: number | null
  #isScheduled = false

  /** `broadcast` sends a frame to every feeder. */
  constructor(broadcast: (frame: WantFrame) => void, nowMs: number) {
    this.#broadcast = broadcast
    this.#wokeMs = nowMs
  }

  /** Registers a reader's new link. Returns the reader's interests, which are updated in place. */
  onAttached({ name, reader, orders = [], l4 = [] }: AttachRequest): Interests {
    const coins = reader.kind === 'l4' ? [reader.coin] : l4
    return this.#update(name, { whole: true, orders: { add: orders, drop: [] }, l4: { add: coins, drop: [] } })
  }

  /** Applies a relay's message. Returns true if the relay has just restarted. */
  onMessage(relay: string, text: string): boolean {
    const message = JSON.parse(text) as RelayInterest
    if (message.t === 'want') this.#update(relay, message)
    return message.whole === true
  }

  /** Requests an optional part of blocks for a pipeline. It has no link, so it has to repeat this before LINGER_MS. */
  requestPart(pipeline: string, part: 'replica', nowMs: number): void {
    this.#update(pipeline, { whole: true, orders: NONE, parts: { add: [part], drop: [] } })
    this.onLeft(pipeline, nowMs)
  }

  #update(
    reader: string,
    message: Pick<RelayInterest, 'whole' | 'orders' | 'l4'> & { readonly parts?: RelayInterest['l4'] },
  ): Interests {
    const names = { orders: new Set<string>(), l4: new Set<string>(), parts: new Set<string>() }
    const interest = this.#readers.get(reader) ?? { names, leftMs: null }
    this.#readers.set(reader, interest)
    interest.leftMs = null
    for (const kind of KINDS) {
      const names = interest.names[kind]
      const { add = [], drop = [] } = message[kind] ?? {}
      const dropped = (message.whole ? [...names] : drop).filter((name) => names.delete(name))
      const added = add.filter((name) => !names.has(name))
      for (const name of added) names.add(name)
      this.#names[kind].add(added)
      this.#names[kind].remove(dropped)
      if (added.length + dropped.length > 0) this.#scheduleNotify()
    }
    return interest.names
  }

  /** Records that a reader's link ended. Returns false if its interests have been dropped. */
  onLeft(reader: string, nowMs: number): boolean {
    const interest = this.#readers.get(reader)
    if (interest) interest.leftMs = nowMs
    return interest !== undefined
  }

  /** Drops readers that have not returned. Call this every few seconds while feeders are connected. */
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

  /** The frames that a feeder gets before its welcome. */
  *initialFrames(): Generator<WantFrame, void> {
    yield { type: 'want', orders: NONE, payments: true, extras: this.#extras }
    const isWhole = this.#wokeMs === null
    const orders = { add: [...this.#names.orders.sent], drop: [] }
    const l4 = { add: [...this.#names.l4.sent], drop: [] }
    if (!isWhole && orders.add.length + l4.add.length === 0) return
    for (const part of wantFrameParts({ orders, l4 }, isWhole)) yield { type: 'want', ...part }
  }

  /** All extra parts that feeders send. */
  get #extras(): string[] {
    return [...PARTS, ...this.#names.parts.sent]
  }

  #scheduleNotify(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.notifyFeeders()
    }, NOTIFY_MS)
  }

  /** Whether feeders know all of these users. Feeders accept only a limited number of users. */
  areSent(orders: readonly string[]): boolean {
    return orders.every((name) => this.#names.orders.sent.has(name))
  }

  /** Sends pending changes to the feeders now. */
  notifyFeeders(): void {
    if (this.#names.parts.takeChange()) this.#broadcast({ type: 'want', orders: NONE, extras: this.#extras })
    const change = { orders: this.#names.orders.takeChange(), l4: this.#names.l4.takeChange() }
    if (!change.orders && !change.l4) return
    for (const part of wantFrameParts(change, false)) this.#broadcast({ type: 'want', ...part })
  }
}
