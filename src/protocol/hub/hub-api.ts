// What a BookHub answers to others over RPC. Types alone: the shell is book-hub.do.ts.
// Payloads carry `v`, because the two Workers are deployed apart.

import type { Coin, MarketType } from '../../core/coin.ts'
import type { Cursor } from '../feed/log-api.ts'
import type { ViewFragment } from './hub-link.ts'

export const HUB_API_VERSION = 1

/** A whole book, encoded once per coin and block: `levels` is the JSON text `[bids,asks]`, best first. */
export interface BookSnapshot {
  readonly coin: Coin
  readonly time: number
  readonly height: number
  readonly epoch: string
  readonly seq: number
  readonly levels: string
}

/** `unknown_coin`: no such book in this shard; `not_ready`: the hub waits for a seed. */
export type SnapshotResponse =
  | { readonly v: number; readonly ok: true; readonly snapshot: BookSnapshot }
  | { readonly v: number; readonly ok: false; readonly reason: 'unknown_coin' | 'not_ready' }

/** Best prices of one coin; null where a side is empty. `lastPx` is the last trade seen, null if none. */
export interface TopOfBook {
  readonly coin: Coin
  readonly bidPx: string | null
  readonly askPx: string | null
  readonly lastPx: string | null
}

/** What a relay wants of a hub's coins: single coins, and every present and future coin of these market types. */
export interface BookInterest {
  readonly coins: readonly string[]
  readonly types: readonly MarketType[]
  /** Requested views and checksums (view-wants.ts). */
  readonly views: readonly string[]
}

export interface RelayAttachRequest {
  readonly v: number
  /** Name of the relay's object, by which the hub dials it. A second attach of a name replaces the first. */
  readonly relay: string
  readonly interest: BookInterest
  /** Null: from the next block on. */
  readonly cursor: Cursor | null
}

export interface RelayAttachResponse {
  readonly v: number
  /** Null while the hub waits for a seed (the link is up and ticks all the same). */
  readonly epoch: string | null
  /** The hub's present height; the first frame on the link has the height after the cursor, or after this. */
  readonly height: number | null
  /** True where frames between the cursor and now can no longer be had: bodies with coins of this hub must restart. */
  readonly lost: boolean
}

export interface JoinResponse {
  readonly v: number
  /** False while the hub waits for a seed; ask again. */
  readonly ready: boolean
  readonly snapshots: readonly BookSnapshot[]
  /** Coins that this hub has no book of (they stay in the interest: their first frame is marked new). */
  readonly unknown: readonly string[]
  /** Coins left out of this answer because it reached 1 MiB: ask for them with another join. */
  readonly rest: readonly string[]
}

/** Views as they stood at a height; with `ready` false there are none yet, and they come on the link when there are. */
export interface ViewsResponse {
  readonly v: number
  readonly ready: boolean
  readonly height: number
  readonly time: number
  readonly views: readonly ViewFragment[]
}

/** Whole books for the archive, in the order of their names. */
export interface HubBooks {
  readonly v: number
  /** Null: the books are not known now. */
  readonly epoch: string | null
  readonly time: number
  /** Each after the block of its height; `levels` is the JSON text `[bids,asks]`. */
  readonly books: readonly Pick<BookSnapshot, 'coin' | 'height' | 'seq' | 'levels'>[]
  /** Books that were passed over because they are not sure now. */
  readonly left: number
  /** Ask on with this name; null: these were the last. */
  readonly next: string | null
}

export interface BookHubApi {
  /** Makes sure that the hub lives and is attached to the log. */
  wake(): Promise<void>
  /** Full depth at the hub's present height, or `depth` levels a side. */
  snapshot(coin: Coin, depth?: number): Promise<SnapshotResponse>
  /** Best prices of every coin of the shard at the present height; null while the hub waits for a seed. */
  tops(): Promise<{
    readonly v: number
    readonly height: number
    readonly time: number
    readonly tops: readonly TopOfBook[]
  } | null>
  /** Every book of the shard, a page at a time: of coins after a name. */
  books(after: string | null): Promise<HubBooks>
  /** Dials the relay (`GET /link` with LINK_HEADER `{from: 'hub', index}`) and sends one frame per block from then on. */
  attach(request: RelayAttachRequest): Promise<RelayAttachResponse>
  /**
   * Adds coins to the interest of an attached relay and answers their books. Atomic: a snapshot of height s means
   * that every frame of a height above s on the link carries the coin. Called again for `rest`.
   * `withBooks` false: the coins come into force all the same, but no book is sent (a deep one is near 1 MB).
   */
  join(relay: string, coins: readonly string[], withBooks?: boolean): Promise<JoinResponse>
  /** Adds market types to the interest and answers the names of this hub's coins of those types (no books). */
  joinTypes(
    relay: string,
    types: readonly MarketType[],
  ): Promise<{ readonly v: number; readonly coins: readonly string[] }>
  /**
   * Adds wants of views to the interest, whose changes come on the link from then on, and answers how they are now. Of
   * checksums there is nothing to answer: each change has one from then on.
   */
  joinViews(relay: string, wants: readonly string[]): Promise<ViewsResponse>
  /** Replaces the interest of an attached relay, such as after subscriptions ended. */
  setInterest(relay: string, interest: BookInterest): Promise<void>
}
