// The log's side of pipelines: serves durable blocks page by page, and registers the wallets whose order statuses a
// pipeline wants. Invariant: the statuses of a block are not reported as complete if feeders may have sent the block
// before they knew of the interest.

import { toChunks } from '../core/chunks.ts'
import type { ArchivePart } from '../protocol/feed/archive-api.ts'
import type { DurablePage, DurablePart, DurableRequest } from '../protocol/feed/durable-api.ts'
import { LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { OrderInterests } from './order-interests.do.ts'
import { ReplayQueue } from './pages.ts'
import type { RetainedBlocks } from './retained-blocks.do.ts'

/** Number of blocks that may be in flight when an interest reaches the feeders. They cover a few seconds. */
const IN_FLIGHT_BLOCKS = 100
/** An interest lasts 30 seconds. After this time, a pipeline's next request registers its interest again. */
const INTEREST_MS = 20_000

interface PipelineInterest {
  readonly wallets: ReadonlySet<string>
  /** First height with all statuses of these wallets; null if feeders do not know the interest. */
  readonly knownFrom: number | null
  readonly atMs: number
}

export class PipelineService {
  readonly #blocks: RetainedBlocks
  readonly #interests: OrderInterests
  readonly #queue = new ReplayQueue()
  readonly #requested = new Map<string, PipelineInterest>()

  constructor(blocks: RetainedBlocks, interests: OrderInterests) {
    this.#blocks = blocks
    this.#interests = interests
  }

  page({ reader, from, kind, orders }: DurableRequest, nowMs: number): Omit<DurablePage, 'v'> {
    const ordersFrom = orders && { ordersFrom: this.#register(reader, orders, nowMs) }
    const retryMs = from === null ? 0 : this.#queue.waitMs(reader, nowMs)
    const { head, parts } = this.#blocks.archivePage(retryMs > 0 ? null : from, kind)
    if (retryMs > 0) return { head, parts: [], retryMs, ...ordersFrom }
    const pages = parts.map((part) => this.#partOf(part, kind, orders !== undefined))
    for (const part of pages)
      if ('lines' in part) this.#queue.spend(bytesOf([...part.lines, ...(part.orders ?? [])]), nowMs)
    return { head, parts: pages, ...ordersFrom }
  }

  #partOf(part: ArchivePart, kind: DurableRequest['kind'], hasOrders: boolean): DurablePart {
    if ('gap' in part) return part
    const { first, last } = part
    if (!hasOrders) return { first, last, lines: part[kind] }
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
