// Types of the requests that a pipeline sends to the log. Payloads carry `v`.

import type { Coin } from '../../core/coin.ts'
import type { Block, LedgerEvent } from './block.ts'
import type { SkippedHeights } from './status-shape.ts'

/** Fills of a wallet, or of orders placed through a builder. The address is in lower case. */
export interface OwnerScope {
  readonly by: 'user' | 'builder'
  readonly address: string
}

/** Fills of an owner, or all fills of a coin. */
export type FillScope = OwnerScope | { readonly by: 'coin'; readonly coin: Coin }

/** Wallet events other than fills: balance movements, staking, or funding payments. */
export type LedgerKind = 'ledger' | 'staking' | 'funding'

export interface FillsRequest {
  readonly v: number
  readonly scope: FillScope
  /** The value of `next` from the previous page; null: start with the newest event. */
  readonly before: number | null
  /** If set, the response has the wallet's events of this kind instead of fills. */
  readonly kind?: LedgerKind
}

export interface HeightAndTime {
  readonly height: number
  readonly time: number
}

/**
 * Block content within a scope. It has either fills (and for a wallet also the funding of every coin), or only ledger
 * events.
 */
export interface EventBlock extends Pick<Block, 'height' | 'time' | 'fills' | 'funding'> {
  readonly ledger?: readonly LedgerEvent[]
}

/** A contiguous range of heights. `blocks` has only the blocks with content in the scope, oldest first. */
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
      /** Ranges, newest first. */
      readonly stretches: readonly BlockRange[]
      /** Value of `before` for the next page; null: nothing older is stored. */
      readonly next: number | null
    }
  /** The log is at its read limit. Retry after this time. */
  | { readonly v: number; readonly retryMs: number }

export interface DurableRequest {
  readonly v: number
  /** Name of the pipeline that reads. */
  readonly reader: string
  /** First requested height; null: no blocks are requested. */
  readonly from: number | null
  readonly kind: 'events' | 'books'
  /** Wallets whose order statuses are requested with `events`. Feeders send them as long as they are requested. */
  readonly orders?: readonly string[]
  /** Set if signed actions are requested with `events`. Feeders send them as long as they are requested. */
  readonly replica?: true
  /** Names of other readers whose requests for order statuses stay in effect. */
  readonly keep?: readonly string[]
}

/**
 * Blocks that are stored together: the bytes of their lines, in chunks, with one line per height. `orders` has their
 * order statuses in the same form, and `replica` their signed actions, if known.
 */
export interface DurableLines {
  readonly first: number
  readonly last: number
  readonly lines: readonly Uint8Array[]
  readonly orders?: readonly Uint8Array[]
  readonly replica?: readonly Uint8Array[]
}

export type DurablePart = DurableLines | { readonly gap: SkippedHeights }

export interface DurablePage {
  readonly v: number
  /** Last durable block; null if there is none. */
  readonly head: HeightAndTime | null
  /** In order and without gaps. The first part may start below `from`. Empty if no further block is durable. */
  readonly parts: readonly DurablePart[]
  /**
   * Below this height, some requested order statuses are unknown. Null if all are unknown because too many wallets are
   * requested.
   */
  readonly ordersFrom?: number | null
  /** The same for each name in `keep`. Null also if that reader has not requested statuses recently. */
  readonly kept?: readonly (number | null)[]
  /** The log is at its read limit and read nothing. Retry after this time. */
  readonly retryMs?: number
}
