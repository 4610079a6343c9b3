// What a pipeline asks of the log. Types alone. Payloads carry `v`.

import type { SkippedHeights } from './chain.ts'
import type { HeightAndTime } from './held-fills.ts'

export interface DurableRequest {
  readonly v: number
  /** Who asks: a name among readers. */
  readonly reader: string
  /** First height wanted; null: no blocks. */
  readonly from: number | null
  readonly kind: 'events' | 'books'
  /** Wallets whose order statuses are wanted, beside `events`: feeders send them as long as somebody asks. */
  readonly orders?: readonly string[]
}

/** Blocks that are stored together: the bytes of their lines, in pieces, a line for each height; order statuses likewise. */
export interface DurableLines {
  readonly first: number
  readonly last: number
  readonly lines: readonly Uint8Array[]
  readonly orders?: readonly Uint8Array[]
}

export type DurablePart = DurableLines | { readonly gap: SkippedHeights }

export interface DurablePage {
  readonly v: number
  /** The last durable block, null while there is none. */
  readonly head: HeightAndTime | null
  /** In order and without a hole; the first may begin below `from`. None where nothing more is durable. */
  readonly parts: readonly DurablePart[]
  /** Of blocks below this height not all order statuses that were asked for are known; null: of none, there are too many wallets. */
  readonly ordersFrom?: number | null
  /** The log has read enough for others, and read nothing: ask again after this time. */
  readonly retryMs?: number
}
