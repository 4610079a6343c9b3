// The feeder's side of the feed protocol, as a pure state machine: takes frames and blocks, returns frames to send and
// commands. Invariants: blocks are sent in height order without holes; nothing is dropped before it is acknowledged;
// after a block with unknown book changes, or when the gateway has lost its books, a snapshot of all books is sent
// before further changes.

import type * as z from 'zod'
import type { Block } from '../protocol/feed/block.ts'
import {
  FEED_PROTOCOL,
  type GatewayFrame,
  type Hello,
  type Pulse,
  type Verified,
  WATCHED_WALLETS_MAX,
  type WantFrame,
} from '../protocol/feed/protocol.ts'
import { L4Requests } from './l4-requests.ts'
import { EXTRA_PARTS, OPTIONAL_PARTS, type OptionalPart, Outbox } from './outbox.ts'
import type { SnapshotEncoder } from './snapshot-encoder.ts'
import { EXTRA_STREAMS, type ExtraStream } from './streams.ts'

/** The connection counts as dead if pending blocks are not acknowledged for this long. */
export const ACK_TIMEOUT_MS = 10_000
export const WELCOME_TIMEOUT_MS = 5_000
/** Number of unacknowledged characters at which production stops. Later blocks stay in the node's files. */
export const OUTBOX_MAX_UNITS = 64 * 1024 * 1024
const RESEND_PAUSE_MS = 100
/** Number of rejections after which a block is declared a gap. */
const MAX_BLOCK_REJECTIONS = 3
/** Number of consecutive rejections, for example while another feeder is ahead, after which a repair is dropped. */
const MAX_REPAIR_REJECTIONS = 50

/** Fields named in an error if a snapshot was rejected because of its timing. */
const TIMING_FIELDS = ['height', 'part'] as const

/** Where production resumes: after `durable` (null: the log is empty). `seeded`: the gateway knows the books. */
export interface Reposition {
  readonly durable: number | null
  readonly seeded: boolean
}

/** Action that the shell takes after a frame. */
export type Command =
  | { readonly do: 'reposition'; readonly to: Reposition }
  | { readonly do: 'say'; readonly sentence: string }
  /** The gateway refuses this feeder: nothing is sent until the gateway welcomes a later connection. */
  | { readonly do: 'refused'; readonly reason: string; readonly atGreeting: boolean }

type Phase = 'closed' | 'greeting' | 'flowing' | 'refused'

export class FeedSession {
  readonly #outbox = new Outbox()
  #phase: Phase = 'closed'
  #since = 0
  #lastAckAt = 0
  #pausedUntil = 0
  /** Next height to produce for the gateway; null until a position is set. */
  #next: number | null = null
  #durable: number | null = null
  #seeded = false
  #dueAll = false
  readonly #dueCoins = new Set<string>()
  /** True if the next block follows a gap, so its changes do not apply to the gateway's books. */
  #isBroken = false
  #repairRejections = 0
  #rejections = { height: -1, resends: 0, errors: 0 }
  /** Parts that the gateway accepts. It names them on each connection, before its welcome. */
  #accepted: ReadonlySet<OptionalPart> = new Set()
  #offered = new Set<OptionalPart>()
  /** Wallets whose order statuses are wanted. They remain valid after a connection ends. */
  readonly #wallets = new Set<string>()
  /** Requests for order-level books. */
  readonly l4 = new L4Requests()

  get phase(): Phase {
    return this.#phase
  }

  /** Wallets whose order statuses the gateway wants. */
  get wantedWallets(): ReadonlySet<string> {
    return this.#wallets
  }

  /** Extra streams that the gateway accepts. */
  get extras(): ReadonlySet<ExtraStream> {
    return new Set(EXTRA_STREAMS.filter((name) => this.#accepted.has(name)))
  }

  /** True while the gateway wants signed actions. */
  get wantsReplica(): boolean {
    return this.#accepted.has('replica')
  }

  /** Last height known to be durable at the gateway. */
  get durable(): number | null {
    return this.#durable
  }

  /** Next height that the gateway needs; null while unknown. */
  get next(): number | null {
    return this.#next
  }

  get unacked(): number {
    return this.#outbox.length
  }

  /** True while no more blocks may be produced. */
  get isFull(): boolean {
    return this.#outbox.units >= OUTBOX_MAX_UNITS
  }

  /** Call when the socket is open. Returns the hello to send. */
  onOpen(hello: Pick<z.infer<typeof Hello>, 'chain' | 'feeder' | 'first' | 'head'>, nowMs: number): string {
    this.#phase = 'greeting'
    this.#since = nowMs
    this.#pausedUntil = 0
    this.#offered = new Set()
    return JSON.stringify({ type: 'hello', protocol: FEED_PROTOCOL, ...hello })
  }

  onClose(): void {
    this.#phase = 'closed'
    this.l4.onClose()
  }

  /** A pulse as a frame; null when no pulse may be sent now. */
  encodePulse(fields: Omit<Pulse, 'type'>, nowMs: number): string | null {
    const isGreeted = this.#phase === 'flowing' || this.#phase === 'refused'
    return isGreeted && nowMs >= this.#pausedUntil ? JSON.stringify({ type: 'pulse', ...fields } satisfies Pulse) : null
  }

  /** Handles a frame from the gateway. */
  onFrame(frame: GatewayFrame, nowMs: number): Command[] {
    switch (frame.type) {
      case 'welcome':
        return this.#onWelcome(frame, nowMs)
      case 'want':
        this.#onWant(frame)
        return []
      case 'ack':
        this.#onAck(frame.height, nowMs)
        return []
      case 'resend':
        return this.#onResend(frame.from, nowMs)
      case 'reseed':
        if (frame.coins === null) this.#dueAll = true
        else for (const coin of frame.coins) this.#dueCoins.add(coin)
        return [{ do: 'say', sentence: `the gateway requested ${booksText(frame.coins)}: ${frame.reason}` }]
      case 'l4Reseed':
        this.l4.request(frame.coins, (this.#next ?? 0) - 1)
        return []
      case 'slow':
        this.#pausedUntil = nowMs + frame.retryMs
        return []
      case 'conflict': {
        const atGreeting = this.#phase === 'greeting'
        this.#phase = 'refused'
        return [{ do: 'refused', reason: frame.reason, atGreeting }]
      }
      case 'error':
        return this.#onError(frame.field, frame.message)
    }
  }

  /** Resumes production with block `next` and clears the outbox. `gone`: heights that are no longer in the files. */
  startFrom(next: number, needsSeed: boolean, gone: { readonly from: number; readonly to: number } | null): void {
    this.#outbox.clear()
    this.#next = next
    if (needsSeed) this.#dueAll = true
    this.#isBroken = false
    this.l4.onBreak()
    if (gone) this.addGap(gone.from, gone.to)
  }

  /** Adds a produced block and returns it as it will be sent. Heights below `next` are ignored. */
  addBlock(block: Block): Block | null {
    if (this.#next === null || block.height < this.#next) return null
    if (block.height > this.#next) throw new Error(`block ${block.height} was produced instead of ${this.#next}`)
    const books = this.#isBroken || this.#dueAll ? null : block.books
    const rejected = OPTIONAL_PARTS.filter((name) => !this.#accepted.has(name))
    const accepted = { ...block }
    for (const name of rejected) delete accepted[name]
    const sent = this.#outbox.pushBlock(books === block.books ? accepted : { ...accepted, books })
    this.l4.onBlock(sent)
    this.#isBroken = false
    if (books === null) this.#dueAll = true
    this.#next = block.height + 1
    return sent
  }

  /** Records that heights `from` to `to` will never arrive. */
  addGap(from: number, to: number): void {
    if (this.#next === null || to < this.#next) return
    this.#outbox.pushGone(Math.max(from, this.#next), to)
    this.#next = to + 1
    this.#isBroken = true
    this.l4.onBreak()
    this.#dueAll = true
  }

  /** The books to send now. `height`: height of the known books. Null if no books are due. */
  dueBooks(height: number): 'all' | string[] | null {
    if (this.#next === null || height !== this.#next - 1 || this.#isBroken) return null
    if (this.#dueAll) return 'all'
    return this.#dueCoins.size > 0 ? [...this.#dueCoins] : null
  }

  /** Starts a snapshot of the books that dueBooks() returned. Its parts follow. */
  openSnapshot({ head: { scope, height }, coins }: Pick<SnapshotEncoder, 'head' | 'coins'>): void {
    this.#outbox.openSnapshot(scope, height, scope === 'all' ? [] : coins)
  }

  /** Adds a part of the snapshot. Returns false if the snapshot is no longer useful. */
  addSnapshotPart(text: string, isLast: boolean): boolean {
    const item = this.#outbox.pushPart(text, isLast)
    if (item && isLast) {
      if (item.scope === 'all') this.#dueAll = false
      this.#dueCoins.clear()
    }
    return item !== null
  }

  /** Drops the snapshot. Its books stay due. */
  dropSnapshot(): void {
    this.#outbox.dropOpenSnapshot()
  }

  /** True while the gateway can use digests of books after `height`. */
  canSendVerified(height: number): boolean {
    const isUpToDate = this.#next === height + 1 && !this.#isBroken && !this.#dueAll
    return this.#phase === 'flowing' && isUpToDate
  }

  /** Adds digests of books after `height` that match the node's. */
  addVerified(height: number, books: Verified['books']): void {
    if (this.canSendVerified(height)) this.#outbox.pushVerified({ type: 'verified', height, books })
  }

  /** Records coins that were repaired here and need a repair at the gateway. */
  onRepaired(coins: 'all' | readonly string[]): void {
    if (coins === 'all') return
    for (const coin of coins) this.#dueCoins.add(coin)
  }

  /** Frames to send now: at least one if any is pending, and no more after `roomUnits` characters. */
  drain(nowMs: number, roomUnits: number): string[] {
    if (this.#phase !== 'flowing' || nowMs < this.#pausedUntil || roomUnits <= 0) return []
    const texts: string[] = []
    const isWaiting = this.#outbox.awaitsAck
    for (let units = 0; units < roomUnits; units += texts.at(-1)?.length ?? 0) {
      const text = this.#outbox.next()
      if (text === null) break
      texts.push(text)
    }
    // The acknowledgement timeout starts with the first block in flight.
    if (!isWaiting && texts.length > 0) this.#lastAckAt = nowMs
    return texts
  }

  /**
   * A part of an order-level book to send now. It is sent only after all other frames, never between the parts of one.
   */
  takeL4Part(nowMs: number): string | null {
    return this.#phase === 'flowing' && nowMs >= this.#pausedUntil && this.#outbox.isAllSent ? this.l4.take() : null
  }

  /** Why the connection must be dropped; null while it is healthy. */
  overdueReason(nowMs: number): string | null {
    if (this.#phase === 'greeting' && nowMs - this.#since > WELCOME_TIMEOUT_MS) return 'the gateway sent no welcome'
    if (this.#phase !== 'flowing' || nowMs < this.#pausedUntil || !this.#outbox.awaitsAck) return null
    return nowMs - Math.max(this.#lastAckAt, this.#pausedUntil) > ACK_TIMEOUT_MS
      ? 'the gateway sent no acknowledgement'
      : null
  }

  #onWelcome(frame: Extract<GatewayFrame, { type: 'welcome' }>, nowMs: number): Command[] {
    this.#accepted = this.#offered
    this.#outbox.dropParts(OPTIONAL_PARTS.filter((name) => !this.#accepted.has(name)))
    this.#phase = 'flowing'
    this.#lastAckAt = nowMs
    this.#seeded = frame.epoch !== null
    const durable = frame.height
    this.#durable = durable
    if (durable === null || this.#next === null) return [this.#reposition(durable)]
    if (durable >= this.#next - 1) {
      this.#skipTo(durable)
      if (!this.#seeded) this.#dueAll = true
      return []
    }
    if (!this.#outbox.covers(durable + 1)) return [this.#reposition(durable)]
    this.#outbox.ack(durable)
    if (this.#seeded) this.#outbox.dropSnapshots((item) => item.scope === 'all' && item.height <= durable)
    else this.#unseed()
    this.#outbox.rewind(durable)
    return []
  }

  #onWant({ whole, orders: { add, drop }, l4, payments, extras }: WantFrame): void {
    if (payments) this.#offered.add('payments')
    for (const name of extras ? EXTRA_PARTS : [])
      if (extras?.includes(name)) this.#offered.add(name)
      else this.#offered.delete(name)
    this.l4.updateWanted({ whole, l4 })
    if (whole) this.#wallets.clear()
    for (const wallet of drop) this.#wallets.delete(wallet)
    for (const wallet of add) if (this.#wallets.size < WATCHED_WALLETS_MAX) this.#wallets.add(wallet)
  }

  /** Call when the gateway has no books. Changes in the outbox are then useless up to the next snapshot. */
  #unseed(): void {
    if (!this.#outbox.hasSeed) this.#dueAll = true
    this.#outbox.clearBooks()
  }

  #onAck(height: number, nowMs: number): void {
    this.#lastAckAt = nowMs
    if (this.#durable !== null && height <= this.#durable) return
    this.#durable = height
    this.#outbox.ack(height)
    if (this.#next !== null && height >= this.#next) this.#skipTo(height)
  }

  /** Another feeder brought the gateway to `durable`; production catches up without sending. */
  #skipTo(durable: number): void {
    // The coins of an unacknowledged snapshot are sent again once production has caught up.
    this.#outbox.dropSnapshots((item) => {
      for (const coin of item.coins) this.#dueCoins.add(coin)
      return true
    })
    this.#outbox.clear()
    if (durable + 1 !== this.#next) this.l4.onBreak()
    this.#next = durable + 1
    this.#isBroken = false
  }

  #onResend(from: number, nowMs: number): Command[] {
    const refusals = this.#rejections
    if (refusals.height !== from) this.#rejections = { height: from, resends: 1, errors: 0 }
    else refusals.resends++
    // Another feeder may have the block that the gateway lacks, so do not retry at full speed.
    if (this.#rejections.resends > MAX_BLOCK_REJECTIONS) this.#pausedUntil = nowMs + RESEND_PAUSE_MS
    if (this.#next === null || from > this.#next) return []
    if (from < this.#next && !this.#outbox.covers(from)) return [this.#reposition(from - 1)]
    if (this.#rejections.errors < MAX_BLOCK_REJECTIONS) {
      this.#outbox.rewind(from)
      return []
    }
    this.#rejections = { height: -1, resends: 0, errors: 0 }
    this.#outbox.giveUp(from)
    this.l4.onBreak()
    if (!this.#outbox.hasSeed) this.#dueAll = true
    return [{ do: 'say', sentence: `the gateway keeps rejecting block ${from}; it is now a gap` }]
  }

  #onError(field: string, message: string): Command[] {
    if (this.#phase === 'greeting') {
      this.#phase = 'refused'
      return [{ do: 'refused', reason: message, atGreeting: false }]
    }
    const isTiming = TIMING_FIELDS.some((name) => field === name)
    const rejected = new Set<'all' | 'coins' | null>()
    this.#outbox.dropSnapshots((item) => {
      if (!this.#outbox.inFlight.includes(item) || (item.scope === 'all' && !isTiming)) return false
      rejected.add(item.scope)
      // A snapshot is rejected for its timing when another feeder was faster. A repair is then sent again after the
      // next block.
      if (this.#repairRejections < MAX_REPAIR_REJECTIONS) for (const coin of item.coins) this.#dueCoins.add(coin)
      return true
    })
    // All books are sent again only on request: if another feeder sent its books, the gateway does not need ours.
    if (rejected.has('all')) this.#dueAll = false
    if (rejected.size === 0) this.#rejections.errors++
    this.#repairRejections = rejected.has('coins') ? this.#repairRejections + 1 : 0
    return [{ do: 'say', sentence: `the gateway rejected a frame: ${field}: ${message}` }]
  }

  #reposition(durable: number | null): Command {
    this.#outbox.clear()
    this.l4.onBreak()
    this.#next = null
    return { do: 'reposition', to: { durable, seeded: this.#seeded } }
  }
}

const booksText = (coins: readonly string[] | null) =>
  coins === null ? 'all books' : `the books of ${coins.length} coins`
