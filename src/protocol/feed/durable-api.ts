// What a pipeline asks of the log. Types alone. Payloads carry `v`.

import type { Coin } from '../../core/coin.ts'
import type { Block, LedgerEvent } from './block.ts'
import type { SkippedHeights } from './status-shape.ts'

/** Whose fills: a wallet's own, or those of orders that came through a builder (lower case). */
export interface OwnerScope {
  readonly by: 'user' | 'builder'
  readonly address: string
}

/** Or all of one coin. */
export type FillScope = OwnerScope | { readonly by: 'coin'; readonly coin: Coin }

/** Events of a wallet that are no fills: balance movements, what it did with its stake, or what it paid and got as funding. */
export type LedgerKind = 'ledger' | 'staking' | 'funding'

export interface FillsRequest {
  readonly v: number
  readonly scope: FillScope
  /** The `next` of the page before; null: from the newest on. */
  readonly before: number | null
  /** Of a wallet its events of another kind, and no fills. */
  readonly kind?: LedgerKind
}

export interface HeightAndTime {
  readonly height: number
  readonly time: number
}

/** What a block holds for a scope: its fills, and to a wallet also every coin's funding; or its ledger events alone. */
export interface EventBlock extends Pick<Block, 'height' | 'time' | 'fills' | 'funding'> {
  readonly ledger?: readonly LedgerEvent[]
}

/** Heights without a hole, and those of their blocks that hold something for the scope, oldest first. */
export interface BlockRange {
  readonly first: HeightAndTime
  readonly last: number
  readonly blocks: readonly EventBlock[]
}

export type FillsResponse =
  | {
      readonly v: number
      /** The last durable block; null while the log holds none. */
      readonly head: HeightAndTime | null
      /** Newest first. */
      readonly stretches: readonly BlockRange[]
      /** Ask on with this `before`; null: nothing older is held. */
      readonly next: number | null
    }
  /** The log has read enough for others: ask again after this time. */
  | { readonly v: number; readonly retryMs: number }

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
