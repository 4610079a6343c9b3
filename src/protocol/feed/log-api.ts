// RPC interface of the BlockLog, and the frames that it sends to the readers it dials. Types and codecs only. Payloads
// carry `v`, because the Workers are deployed separately.

import type { Coin } from '../../core/coin.ts'
import type { AgeReport } from './ages.ts'
import type { ArchivePage, ArchiveRequest, FilesReport } from './archive-api.ts'
import type { BookChange, CoinFunding, LedgerEvent, UserFill } from './block.ts'
import type { DurablePage, DurableRequest, FillsRequest, FillsResponse } from './durable-api.ts'

import type { L4Book } from './protocol.ts'
import type { LogStatus } from './status-shape.ts'

export const LOG_API_VERSION = 1

/** Name under which the pipeline follower reads durable blocks. It reads only the newest ones. */
export const FOLLOWER_READER = 'follower'

/** Index of a fill in its block, and the builder to notify about it. */
export type BuilderFill = readonly [fill: number, builder: string]

/** Position of a reader. The reader has all blocks of `epoch` up to and including `height`. */
export interface Cursor {
  readonly epoch: string
  readonly height: number
}

/**
 * A hub reads the books of its shard. A relay reads all fills and ledger events, plus the order statuses and
 * order-level rows it requests. The object of an order-level book reads all orders of its book, then the rows after the
 * cursor. Fills are not filtered by address here: a block of the real exchange has about three, so a filter would save
 * nothing and would have to track every subscription.
 */
export type ReaderKind =
  | { readonly kind: 'hub'; readonly index: number; readonly shards: number }
  | { readonly kind: 'relay' }
  | { readonly kind: 'l4'; readonly coin: Coin }

export interface AttachRequest {
  readonly v: number
  /** Object name of the reader, which the log uses to dial it. A second attach under a name replaces the first. */
  readonly name: string
  readonly reader: ReaderKind
  /** Null: start with the next block. */
  readonly cursor: Cursor | null
  /** Wallets whose order statuses a relay needs. Changes are sent on the link (RelayInterest). */
  readonly orders?: readonly string[]
  /** Coins whose order-level rows a relay needs. Their changes are sent on the link too. */
  readonly l4?: readonly string[]
  /**
   * True if the reader understands LinkTick and HubVerified and acknowledges the characters it has read, so that the
   * data in flight is bounded. Relays do not set this: they acknowledge with RelayInterest frames.
   */
  readonly follows?: boolean
}

export interface AttachResponse {
  readonly v: number
  /** Current epoch of the books; null before the first seed. */
  readonly epoch: string | null
  /** Last height of the log; null while empty. */
  readonly height: number | null
  /** First height that will be sent. This reader never gets the blocks between its cursor and this height. */
  readonly from: number
  /**
   * True if the log no longer holds the blocks after the cursor, or if the cursor is ahead of the log or belongs to a
   * different epoch.
   */
  readonly lost: boolean
  /** All coins of a hub's shard that have a book in this epoch; empty for relays. */
  readonly coins: readonly string[]
  /**
   * Coins of a hub's shard whose books were repaired at or after the cursor. Applying the blocks does not produce these
   * books.
   */
  readonly repaired?: readonly { readonly coin: Coin; readonly height: number }[]
}

export interface BlockLogApi {
  /** Dials the reader (`GET /link` with LINK_HEADER), then sends the blocks after the cursor and every new block. */
  attach(request: AttachRequest): Promise<AttachResponse>
  /** Requests full books of these coins from a feeder (null: all coins). Requests within a second are merged. */
  reseed(coins: readonly string[] | null, reason: string): Promise<void>
  /**
   * Reports books in a hub that differ from verified books. The log has them repaired and records which feeder sent
   * them.
   */
  reportMismatch(found: BookMismatch): Promise<void>
  /**
   * Requests all orders of a coin from feeders. Readers of its order-level book receive them in parts. `isWrong` means
   * that the coin's rows did not match its book. The rows of the next block then count as unknown, and all readers
   * restart.
   */
  reseedL4(coin: Coin, isWrong: boolean): Promise<void>
  status(): Promise<LogStatus & { readonly v: number }>
  /** Records the ages of the blocks that a relay sent. */
  ages(report: AgeReport): Promise<void>
  /** Replays the event frames that were sent to relays, starting at a height, one page at a time. */
  events(request: EventsRequest): Promise<EventsResponse>
  /** Returns one page of stored events of a wallet or builder, newest first. */
  fills(request: FillsRequest): Promise<FillsResponse>
  /** Returns the next durable blocks to the Archiver, which reports its progress. */
  archive(request: ArchiveRequest): Promise<ArchivePage>
  /** Returns the next durable blocks to a pipeline. */
  durable(request: DurableRequest): Promise<DurablePage>
  /** Asks the log to call the pipeline follower whenever blocks become durable. */
  follow(): Promise<void>
  /** Records the progress of the archive files. */
  files(report: FilesReport): Promise<void>
  /** Starts a new chain of heights. The next feeder may start at any height. */
  reset(): Promise<void>
}

/** The log's status with the time of the answer in Unix ms. */
export type DatedLogStatus = Awaited<ReturnType<BlockLogApi['status']>> & { readonly atMs: number }

/** The object that every other caller asks for the log's status. */
export interface StatusCacheApi {
  /** At most a second old. Rejects if the log did not answer. */
  status(): Promise<DatedLogStatus>
}

export interface EventsRequest {
  readonly v: number
  /** First requested height. */
  readonly from: number
  /** Name of the relay, so that the log can share its reads fairly among relays. */
  readonly relay?: string
}

export interface EventsResponse {
  readonly v: number
  /**
   * RelayEvents (without order statuses) and LinkGap frames as JSON strings. Together they cover every height, and the
   * first frame may be below `from`. Empty if the block at `from` does not exist yet. Null if the log no longer holds
   * it.
   */
  readonly frames: readonly string[] | null
  /** First stored height; null while the log is empty. */
  readonly first: number | null
  /** Last height of the log; null while empty. */
  readonly head: number | null
  /** The log is at its read limit and read nothing. Retry after this time. */
  readonly retryMs?: number
}

/** log → object of an order-level book: a block, followed by a line with the coin's rows (segment.ts) if known. */
export interface L4BlockHead {
  readonly v: number
  readonly t: 'l4'
  readonly epoch: string | null
  readonly height: number
  readonly time: number
}

/**
 * Dial header: JSON `{v, from: 'log' | 'hub', index}` (index of the hub). Objects set it, and the edge removes it from
 * outside requests.
 */
export const LINK_HEADER = 'x-weir-link'
export interface LinkHeader {
  readonly v: number
  readonly from: 'log' | 'hub'
  readonly index: number
}

/** log → hub: changes of the hub's coins in one block. A frame with an empty list is a tick. */
export interface HubBlock {
  readonly v: number
  readonly t: 'block'
  readonly epoch: string | null
  readonly height: number
  readonly time: number
  /** Null if the changes are unknown. The books are then unknown until the next seed. */
  readonly books: readonly BookChange[] | null
  /** Last trade price of each coin of the shard that traded in this block. */
  readonly px: Readonly<Record<string, string>>
  /**
   * Present only in stored lines: coins whose books were repaired after the previous block. Applying the blocks does
   * not produce these books.
   */
  readonly repaired?: readonly string[]
}

/**
 * log → hub: full books of the hub's coins after block `height`. A long list is sent in parts and applied when the last
 * part arrives.
 */
export interface HubSeed {
  readonly v: number
  readonly t: 'seed'
  readonly scope: 'all' | 'coins'
  readonly epoch: string
  readonly height: number
  readonly time: number
  readonly books: readonly Omit<BookChange, 'new'>[]
  readonly part: number
  readonly parts: number
}

/** log → hub: keeps the link alive while no blocks arrive. */
export interface LinkTick {
  readonly v: number
  readonly t: 'tick'
}

/**
 * log → hub: book digests (level-digest.ts) at `height`. Their feeder has checked these books against its node's
 * snapshot.
 */
export interface HubVerified {
  readonly v: number
  readonly t: 'verified'
  readonly feeder: string
  readonly height: number
  readonly books: readonly (readonly [coin: Coin, digest: number])[]
}

/**
 * Coins whose book in a hub differs from the book of `feeder`. The feeder has checked its book against its node's
 * snapshot.
 */
export interface BookMismatch {
  readonly v: number
  readonly feeder: string
  readonly height: number
  readonly coins: readonly string[]
}

/**
 * log → relay: events of one block; a frame with empty lists is a tick. The JSON is followed by one line per coin whose
 * order-level rows are requested and known (segment.ts).
 */
export interface RelayEvents {
  readonly v: number
  readonly t: 'events'
  /** Epoch of the books at this height; null while unknown. Absent in ticks and backfilled blocks. */
  readonly epoch?: string | null
  readonly height: number
  readonly time: number
  readonly fills: readonly UserFill[]
  readonly ledger: readonly LedgerEvent[]
  /** Empty unless the block paid funding. */
  readonly funding?: readonly CoinFunding[]
  /** TWAP order events, as written by the node. */
  readonly twaps?: readonly unknown[]
  /** As in Block: absent if unknown. */
  readonly oracle?: readonly unknown[]
  readonly writer?: readonly unknown[]
  /** Order statuses of the wallets requested by relays (RelayInterest), as written by the node. */
  readonly orders?: readonly unknown[]
  /** Fills that liquidate a position which was last traded through a builder. */
  readonly through?: readonly BuilderFill[]
  /** Set only by the archive, if the log never had this block and only its fills are known. */
  readonly only?: 'fills'
  /** Set only by the archive, always as the first field: funding payments of wallets (payments.ts). */
  readonly payments?: readonly string[] | null
}

/**
 * relay → log: changes to the relay's interest. `orders` lists wallets whose order statuses it needs or no longer
 * needs, `l4` coins whose order-level rows it needs or no longer needs. `whole` replaces the interest; a restarted
 * relay sends it first. Between these frames, the relay sends the number of characters it has read since its last
 * acknowledgment.
 */
export interface RelayInterest {
  readonly v: number
  readonly t: 'want'
  readonly whole?: true
  readonly orders: { readonly add: readonly string[]; readonly drop: readonly string[] }
  readonly l4?: { readonly add: readonly string[]; readonly drop: readonly string[] }
}

/** log → all readers: heights `from` to `to` will never come. */
export interface LinkGap {
  readonly v: number
  readonly t: 'gap'
  readonly from: number
  readonly to: number
}

export type HubFrame = HubBlock | HubSeed | HubVerified | LinkGap | LinkTick
export type RelayFrame = RelayEvents | LinkGap
/** An L4Book frame, which is a part of all orders, is forwarded as its feeder sent it. */
export type L4Frame = L4BlockHead | L4Book | LinkGap | LinkTick
