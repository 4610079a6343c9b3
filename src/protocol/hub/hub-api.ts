// RPC interface of a BookHub. Types only; book-hub.do.ts implements it. Payloads carry `v`, because the Workers are
// deployed separately.

import type { Coin, MarketType } from '../../core/coin.ts'
import type { Cursor } from '../feed/log-api.ts'
import type { ViewFragment } from './hub-link.ts'

export const HUB_API_VERSION = 1

/** A full book, encoded once per coin per block. `levels` is the JSON string `[bids,asks]`, best first. */
export interface BookSnapshot {
  readonly coin: Coin
  readonly time: number
  readonly height: number
  readonly epoch: string
  readonly seq: number
  readonly levels: string
}

/** `unknown_coin`: this shard has no such book. `not_ready`: the hub waits for a seed. */
export type SnapshotResponse =
  | { readonly v: number; readonly ok: true; readonly snapshot: BookSnapshot }
  | { readonly v: number; readonly ok: false; readonly reason: 'unknown_coin' | 'not_ready' }

/**
 * Best prices of one coin; null for an empty side. `lastPx` is the price of the last trade; null if the hub has seen no
 * trade.
 */
export interface TopOfBook {
  readonly coin: Coin
  readonly bidPx: string | null
  readonly askPx: string | null
  readonly lastPx: string | null
}

/**
 * Coins that a relay needs from a hub: the listed coins, and all current and future coins of the listed market types.
 */
export interface BookInterest {
  readonly coins: readonly string[]
  readonly types: readonly MarketType[]
  /** Requested views and checksums (view-wants.ts). */
  readonly views: readonly string[]
}

export interface RelayAttachRequest {
  readonly v: number
  /** Object name of the relay, which the hub uses to dial it. A second attach under a name replaces the first. */
  readonly relay: string
  readonly interest: BookInterest
  /** Null: start with the next block. */
  readonly cursor: Cursor | null
}

export interface RelayAttachResponse {
  readonly v: number
  /** Null while the hub waits for a seed. The link works in the meantime and carries ticks. */
  readonly epoch: string | null
  /**
   * Current height of the hub. The first frame on the link follows the cursor, or this height if there is no cursor.
   */
  readonly height: number | null
  /** True if frames after the cursor are no longer available. Subscriptions to coins of this hub must then restart. */
  readonly lost: boolean
}

export interface JoinResponse {
  readonly v: number
  /** False while the hub waits for a seed. The relay must retry later. */
  readonly ready: boolean
  readonly snapshots: readonly BookSnapshot[]
  /**
   * Coins that have no book in this hub. They stay in the interest. If a book appears, its first frame is marked as
   * new.
   */
  readonly unknown: readonly string[]
  /** Coins omitted because the response reached 1 MiB. Request them with another join. */
  readonly rest: readonly string[]
}

/** Views at a height. If `ready` is false, there are no views yet, and they are sent on the link later. */
export interface ViewsResponse {
  readonly v: number
  readonly ready: boolean
  readonly height: number
  readonly time: number
  readonly views: readonly ViewFragment[]
}

/** One page of full books for the archive, sorted by coin name. */
export interface HubBooks {
  readonly v: number
  /** Null while the books are unknown. */
  readonly epoch: string | null
  readonly time: number
  /** Each book is the state after the block at its height. `levels` is the JSON string `[bids,asks]`. */
  readonly books: readonly Pick<BookSnapshot, 'coin' | 'height' | 'seq' | 'levels'>[]
  /** Number of books skipped because their state is currently uncertain. */
  readonly left: number
  /** Coin name after which the next page continues; null: there are no more books. */
  readonly next: string | null
}

export interface BookHubApi {
  /** Ensures that the hub is running and attached to the log. */
  wake(): Promise<void>
  /** Returns a book at the hub's current height: in full depth, or with `depth` levels per side. */
  snapshot(coin: Coin, depth?: number): Promise<SnapshotResponse>
  /** Returns the best prices of every coin of the shard at the current height; null while the hub waits for a seed. */
  tops(): Promise<{
    readonly v: number
    readonly height: number
    readonly time: number
    readonly tops: readonly TopOfBook[]
  } | null>
  /** Returns one page of the shard's books, starting after a coin name. */
  books(after: string | null): Promise<HubBooks>
  /** Dials the relay (`GET /link` with LINK_HEADER `{from: 'hub', index}`) and sends one frame per block. */
  attach(request: RelayAttachRequest): Promise<RelayAttachResponse>
  /**
   * Adds coins to an attached relay's interest and returns their books. The call is atomic: after a snapshot at height
   * s, every frame above s carries the coin. Call again for `rest`. If `withBooks` is false, the coins are added but no
   * books are returned (a deep book is nearly 1 MB).
   */
  join(relay: string, coins: readonly string[], withBooks?: boolean): Promise<JoinResponse>
  /** Adds market types to the interest and returns the names of this hub's coins of those types (no books). */
  joinTypes(
    relay: string,
    types: readonly MarketType[],
  ): Promise<{ readonly v: number; readonly coins: readonly string[] }>
  /**
   * Adds views to the interest and returns their current state; changes follow on the link. Checksums have no current
   * state: each later change carries one.
   */
  joinViews(relay: string, wants: readonly string[]): Promise<ViewsResponse>
  /** Replaces an attached relay's interest, for example after subscriptions ended. */
  setInterest(relay: string, interest: BookInterest): Promise<void>
}
