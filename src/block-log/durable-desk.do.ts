// The log's side of pipelines: what of its blocks is durable, a page at a time, and whose order statuses they want. Law: of
// blocks that came before feeders can have heard of a want nothing is called known.

import { toChunks } from '../core/chunks.ts'
import type { ArchivePart } from '../protocol/feed/archive-api.ts'
import type { DurablePage, DurablePart, DurableRequest } from '../protocol/feed/durable-api.ts'
import { LOG_API_VERSION } from '../protocol/feed/log-api.ts'
import type { HeldBlocks } from './held-blocks.do.ts'
import type { OrderWants } from './order-wants.do.ts'
import { ReplayTurns } from './pages.ts'

/** Blocks that may be on their way when feeders hear of a want: some seconds. */
const UNDER_WAY_BLOCKS = 100
/** A want is forgotten after thirty seconds: who asks again later than this asks anew. */
const ASKED_MS = 20_000

interface Asked {
  readonly names: ReadonlySet<string>
  /** Null: feeders were not told. */
  readonly from: number | null
  readonly atMs: number
}

export class DurableDesk {
  readonly #held: HeldBlocks
  readonly #wants: OrderWants
  readonly #turns = new ReplayTurns()
  readonly #asked = new Map<string, Asked>()

  constructor(held: HeldBlocks, wants: OrderWants) {
    this.#held = held
    this.#wants = wants
  }

  page({ reader, from, kind, orders }: DurableRequest, nowMs: number): Omit<DurablePage, 'v'> {
    const ordersFrom = orders && { ordersFrom: this.#want(reader, orders, nowMs) }
    const retryMs = from === null ? 0 : this.#turns.waitMs(reader, nowMs)
    const { head, parts } = this.#held.archivePage(retryMs > 0 ? null : from, kind)
    if (retryMs > 0) return { head, parts: [], retryMs, ...ordersFrom }
    const own = parts.map((part) => this.#partOf(part, kind, orders !== undefined))
    for (const part of own)
      if ('lines' in part) this.#turns.spend(bytesOf([...part.lines, ...(part.orders ?? [])]), nowMs)
    return { head, parts: own, ...ordersFrom }
  }

  #partOf(part: ArchivePart, kind: DurableRequest['kind'], hasOrders: boolean): DurablePart {
    if ('gap' in part) return part
    const { first, last } = part
    if (!hasOrders) return { first, last, lines: part[kind] }
    const orders = this.#held.backlog.lookUp('orders', first)
    // Beyond the window there are none.
    return orders
      ? { first, last, lines: part[kind], orders: toChunks(orders.join('\n')) }
      : { gap: { from: first, to: last } }
  }

  /** From which height on all statuses of these wallets are known; null: feeders have more to send already than they may be asked for. */
  #want(name: string, orders: readonly string[], nowMs: number): number | null {
    for (const [other, { atMs }] of this.#asked) if (nowMs - atMs > ASKED_MS) this.#asked.delete(other)
    const before = this.#asked.get(name)
    this.#wants.attached({ v: LOG_API_VERSION, name, reader: { kind: 'relay' }, cursor: null, orders })
    // It has no link: it is one that may come back.
    this.#wants.left(name, nowMs)
    const known = before && orders.every((one) => before.names.has(one)) ? before.from : null
    if (known === null) this.#wants.tell()
    const isTold = known !== null || this.#wants.areTold(orders)
    const from = isTold ? (known ?? (this.#held.chain.height ?? -1) + 1 + UNDER_WAY_BLOCKS) : null
    this.#asked.set(name, { names: new Set(orders), from, atMs: nowMs })
    return from
  }
}

const bytesOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
