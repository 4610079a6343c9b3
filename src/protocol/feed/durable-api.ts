// Types of a pipeline's requests to the log. Payloads carry `v`.

import type { Coin } from '../../core/coin.ts'
import type { Block, LedgerEvent } from './block.ts'
import type { SkippedHeights } from './status-shape.ts'

/** Fills of a wallet, or of orders placed through a builder (lower case). */
export interface OwnerScope {
  readonly by: 'user' | 'builder'
  readonly address: string
}

/** Additionally: all fills of a coin. */
export type FillScope = OwnerScope | { readonly by: 'coin'; readonly coin: Coin }

/** Wallet events other than fills: balance movements, staking, or funding payments. */
export type LedgerKind = 'ledger' | 'staking' | 'funding'

export interface FillsRequest {
  readonly v: number
  readonly scope: FillScope
  /** The value of `next` from the previous page; null: start with the newest event. */
  readonly before: number | null
  /** Returns events of this kind of a wallet instead of fills. */
  readonly kind?: LedgerKind
}

export interface HeightAndTime {
  readonly height: number
  readonly time: number
}

/** Block content within a scope: fills, and for a wallet the funding of every coin; or only ledger events. */
export interface EventBlock extends Pick<Block, 'height' | 'time' | 'fills' | 'funding'> {
  readonly ledger?: readonly LedgerEvent[]
}

/** A contiguous range of heights with its blocks that have content in scope, oldest first. */
export interface BlockRange {
  readonly first: HeightAndTime
  readonly last: number
  readonly blocks: readonly EventBlock[]
}

export type FillsResponse =
  | {
      readonly v: number
      /** Last durable block; null while the log is empty. */
      readonly head: HeightAndTime | null
      /** Newest first. */
      readonly stretches: readonly BlockRange[]
      /** Continue with this `before`; null: nothing older is stored. */
      readonly next: number | null
    }
  /** The log is at its read limit. Retry after this time. */
  | { readonly v: number; readonly retryMs: number }

export interface DurableRequest {
  readonly v: number
  /** Name of the reader. */
  readonly reader: string
  /** First requested height; null: no blocks. */
  readonly from: number | null
  readonly kind: 'events' | 'books'
  /** Wallets whose order statuses are requested with `events`. Feeders send them while requested. */
  readonly orders?: readonly string[]
}

/** Blocks stored together: bytes of their lines, in chunks, one line per height. Order statuses likewise. */
export interface DurableLines {
  readonly first: number
  readonly last: number
  readonly lines: readonly Uint8Array[]
  readonly orders?: readonly Uint8Array[]
}

export type DurablePart = DurableLines | { readonly gap: SkippedHeights }

export interface DurablePage {
  readonly v: number
  /** Last durable block; null if there is none. */
  readonly head: HeightAndTime | null
  /** In order and without gaps; the first may start below `from`. Empty if nothing more is durable. */
  readonly parts: readonly DurablePart[]
  /**
   * Below this height, some requested order statuses are unknown; null: all are unknown, because there are too many
   * wallets.
   */
  readonly ordersFrom?: number | null
  /** The log is at its read limit and read nothing. Retry after this time. */
  readonly retryMs?: number
}
