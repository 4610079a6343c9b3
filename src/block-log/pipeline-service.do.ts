// The log's side of pipelines: serves durable blocks page by page, tells the pipeline follower about new ones, and
// registers the wallets whose order statuses, and the signed actions, that a pipeline wants. Invariants: at most one call of the follower at a time; the statuses of a block are not reported as complete if feeders may have sent the block
// before they knew of the interest.

import { toChunks } from '../core/chunks.ts'
import { orReject } from '../core/deadline.ts'
import { after } from '../core/timers.client.ts'
import type { ArchivePart } from '../protocol/feed/archive-api.ts'
import type { DurablePage, DurablePart, DurableRequest } from '../protocol/feed/durable-api.ts'
import { FOLLOWER_READER, LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { OrderInterests } from './order-interests.do.ts'
import { ReplayQueue } from './pages.ts'
import type { RetainedBlocks } from './retained-blocks.do.ts'

/** Number of blocks that may be in flight when an interest reaches the feeders. They cover a few seconds. */
const IN_FLIGHT_BLOCKS = 100
/** An interest lasts 30 seconds. After this time, a pipeline's next request registers its interest again. */
const INTEREST_MS = 20_000

const FOLLOWER_TIMEOUT_MS = 30_000
/** The follower is called this often while no blocks arrive, so that it keeps its requests for order statuses. */
const IDLE_CALL_MS = 8_000
const MIN_AGAIN_MS = 1_000

interface PipelineInterest {
  readonly wallets: ReadonlySet<string>
  /** First height with all statuses of these wallets; null if feeders do not know the interest. */
  readonly knownFrom: number | null
  readonly atMs: number
}

/** Calls the follower. Resolves to whether it has to be called for new blocks, and to when it has to be called anyway. */
export type CallFollower = () => Promise<{ readonly isNeeded: boolean; readonly againMs: number | null }>

export class PipelineService {
  readonly #callFollower: CallFollower
  /** False: no pipeline waits for blocks. After a restart, this is unknown. */
  #isFollowed = true
  #calledMs = 0
  #isCalling = false
  #cancelCall: () => void = () => undefined
  /** Blocks became durable during the call. */
  #isCallDue = false
  /** Readers whose requests the follower keeps. */
  #kept: readonly string[] = []
  readonly #blocks: RetainedBlocks
  readonly #interests: OrderInterests
  readonly #queue = new ReplayQueue()
  readonly #requested = new Map<string, PipelineInterest>()

  constructor(blocks: RetainedBlocks, interests: OrderInterests, callFollower: CallFollower) {
    this.#blocks = blocks
    this.#interests = interests
    this.#callFollower = callFollower
  }

  /** Starts to call the follower. */
  follow(nowMs: number): void {
    this.#isFollowed = true
    this.onDurable(nowMs)
  }

  /** Call this when blocks have become durable, or the log was reset. */
  onDurable(nowMs: number): void {
    this.#isCallDue = true
    if (!this.#isFollowed || this.#isCalling) return
    this.#isCallDue = false
    // The follower could not extend these requests while it was not called.
    if (Math.abs(nowMs - this.#calledMs) >= IDLE_CALL_MS) for (const name of this.#kept) this.#keep(name, nowMs)
    this.#calledMs = nowMs
    this.#isCalling = true
    this.#cancelCall()
    orReject(this.#callFollower(), FOLLOWER_TIMEOUT_MS, after)
      .then(
        ({ isNeeded, againMs }) => {
          if (againMs !== null)
            this.#cancelCall = after(Math.max(againMs, MIN_AGAIN_MS), () => this.onDurable(Date.now()))
          // If it was asked for during the call, the answer may be too old.
          this.#isFollowed = isNeeded || this.#isCallDue
        },
        // The next blocks lead to the next call.
        () => {
          this.#isCallDue = false
          this.#kept = []
        },
      )
      .finally(() => {
        this.#isCalling = false
        if (this.#isCallDue) this.onDurable(nowMs)
      })
  }

  /** Call this every few seconds. */
  tick(nowMs: number): void {
    if (Math.abs(nowMs - this.#calledMs) >= IDLE_CALL_MS) this.onDurable(nowMs)
  }

  page({ reader, from, kind, orders, replica, keep }: DurableRequest, nowMs: number): Omit<DurablePage, 'v'> {
    this.#kept = keep ?? this.#kept
    const kept = keep?.map((name) => this.#keep(name, nowMs))
    const ordersFrom = orders && { ordersFrom: this.#register(reader, orders, nowMs) }
    if (replica) this.#interests.requestPart(reader, 'replica', nowMs)
    const known = { ...ordersFrom, ...(kept && { kept }) }
    // All pipelines wait for the follower, and it reads no faster than blocks arrive.
    const isFollower = reader === FOLLOWER_READER
    const retryMs = from === null || isFollower ? 0 : this.#queue.waitMs(reader, nowMs)
    const { head, parts } = this.#blocks.archivePage(retryMs > 0 ? null : from, kind, replica === true)
    if (retryMs > 0) return { head, parts: [], retryMs, ...known }
    const pages = parts.map((part) => this.#partOf(part, kind, orders !== undefined))
    for (const part of isFollower ? [] : pages)
      if ('lines' in part)
        this.#queue.spend(bytesOf([...part.lines, ...(part.orders ?? []), ...(part.replica ?? [])]), nowMs)
    return { head, parts: pages, ...known }
  }

  /** Extends a reader's requests. Returns the first height with all of its statuses; null: it has none. */
  #keep(name: string, nowMs: number): number | null {
    const interest = this.#requested.get(name)
    if (!interest || !this.#interests.onLeft(name, nowMs)) return null
    this.#requested.set(name, { ...interest, atMs: nowMs })
    return interest.knownFrom
  }

  #partOf(part: ArchivePart, kind: DurableRequest['kind'], hasOrders: boolean): DurablePart {
    if ('gap' in part) return part
    const { first, last, replica } = part
    if (!hasOrders) return { first, last, lines: part[kind], ...(replica && { replica }) }
    const orders = this.#blocks.backlog.lookUp('orders', first)
    // If the order statuses are no longer retained, report a gap.
    return orders
      ? { first, last, lines: part[kind], orders: toChunks(orders.join('\n')) }
      : { gap: { from: first, to: last } }
  }

  /** Returns the first height with all statuses of these wallets; null if feeders have no room for more wallets. */
  #register(name: string, orders: readonly string[], nowMs: number): number | null {
    for (const [other, { atMs }] of this.#requested) if (nowMs - atMs > INTEREST_MS) this.#requested.delete(other)
    const before = this.#requested.get(name)
    this.#interests.onAttached({ v: LOG_API_VERSION, name, reader: { kind: 'relay' }, cursor: null, orders })
    // A pipeline has no link, so it is treated like a reader whose link has just ended.
    this.#interests.onLeft(name, nowMs)
    const known = before && orders.every((one) => before.wallets.has(one)) ? before.knownFrom : null
    if (known === null) this.#interests.notifyFeeders()
    const isSent = known !== null || this.#interests.areSent(orders)
    const from = isSent ? (known ?? (this.#blocks.chain.height ?? -1) + 1 + IN_FLIGHT_BLOCKS) : null
    this.#requested.set(name, { wallets: new Set(orders), knownFrom: from, atMs: nowMs })
    return from
  }
}

const bytesOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
