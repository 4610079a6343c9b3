// What the BlockLog answers over RPC, and the frames it sends to the readers it dials. Types and codecs alone.
// Payloads carry `v`, because the two Workers are deployed apart.

import type { Coin } from '../../core/coin.ts'
import type { AgeReport } from './ages.ts'
import type { ArchivePage, ArchiveRequest, FilesReport } from './archive-api.ts'
import type { BookChange, CoinFunding, LedgerEvent, UserFill } from './block.ts'
import type { DurablePage, DurableRequest, FillsRequest, FillsResponse } from './durable-api.ts'

import type { L4Book } from './protocol.ts'
import type { LogStatus } from './status-shape.ts'

export const LOG_API_VERSION = 1

/** A fill of a block by its place in it, and the builder to whom it is told. */
export type BuilderFill = readonly [fill: number, builder: string]

/** Where a reader stands: it has everything up to and including `height` of `epoch`. */
export interface Cursor {
  readonly epoch: string
  readonly height: number
}

/**
 * A hub reads the books of its shard; a relay reads all fills and ledger events, and the order statuses and rows of
 * order-level books that it wants; the object of a coin's order-level book its whole orders, and from its cursor on its rows.
 * (A block of the real exchange has about three fills: filtering by address at the writer would save nothing
 * and would have to be kept in step with every subscription.)
 */
export type ReaderKind =
  | { readonly kind: 'hub'; readonly index: number; readonly shards: number }
  | { readonly kind: 'relay' }
  | { readonly kind: 'l4'; readonly coin: Coin }

export interface AttachRequest {
  readonly v: number
  /** Name of the reader's object, by which the log dials it. A second attach of a name replaces the first. */
  readonly name: string
  readonly reader: ReaderKind
  /** Null: from the next block on. */
  readonly cursor: Cursor | null
  /** Users whose order statuses a relay wants; what changes of it comes on the link (RelayWant). */
  readonly orders?: readonly string[]
  /** Coins whose rows of order-level books a relay wants, likewise. */
  readonly l4?: readonly string[]
  /**
   * It knows LinkTick and HubVerified, and says on the link how many characters it has read of it: by that the log bounds
   * what is under way. Relays do not: a relay says each time how many it has read since (RelayWant).
   */
  readonly follows?: boolean
}

export interface AttachResponse {
  readonly v: number
  /** Current epoch of the books, null before the first seed. */
  readonly epoch: string | null
  /** Last height the log has taken, null while empty. */
  readonly height: number | null
  /** First height that will be sent; blocks between the cursor and here are lost to this reader. */
  readonly from: number
  /** True where the log no longer holds what follows the cursor, or the cursor is of another epoch or ahead. */
  readonly lost: boolean
  /** Names of every coin of a hub's shard that has a book in this epoch; empty for relays. */
  readonly coins: readonly string[]
  /** Coins of a hub's shard that were repaired at or after the cursor: blocks do not lead to their books. */
  readonly repaired?: readonly { readonly coin: Coin; readonly height: number }[]
}

export interface BlockLogApi {
  /** Dials the reader (`GET /link` with LINK_HEADER) and sends what follows the cursor, then every block. */
  attach(request: AttachRequest): Promise<AttachResponse>
  /** Asks a feeder for whole books of these coins (null: of all). Repeats within a second are merged. */
  reseed(coins: readonly string[] | null, reason: string): Promise<void>
  /** A hub found books that are otherwise than verified ones: they are repaired, and who sent them is named. */
  reportMismatch(found: BookMismatch): Promise<void>
  /**
   * Asks feeders for all orders of a coin, which whoever reads its order-level book is then sent, in parts. `isWrong`: its
   * rows do not fit: those of the next block count as not known, so that everybody who follows them begins anew.
   */
  reseedL4(coin: Coin, isWrong: boolean): Promise<void>
  status(): Promise<LogStatus & { readonly v: number }>
  /** How old blocks were when a relay sent them. */
  ages(report: AgeReport): Promise<void>
  /** What relays were sent, once more: the frames of events from a height on, a page at a time. */
  events(request: EventsRequest): Promise<EventsResponse>
  /** One page of what the log holds for a wallet or a builder, newest first. */
  fills(request: FillsRequest): Promise<FillsResponse>
  /** What of the next blocks is durable, for the Archiver, which tells with it how far it is. */
  archive(request: ArchiveRequest): Promise<ArchivePage>
  /** What of the next blocks is durable, for a pipeline. */
  durable(request: DurableRequest): Promise<DurablePage>
  /** How far the files of the archive are. */
  files(report: FilesReport): Promise<void>
  /** Forgets the chain of heights and begins a new one: the next feeder may send from anywhere. */
  reset(): Promise<void>
}

export interface EventsRequest {
  readonly v: number
  /** First height wanted. */
  readonly from: number
  /** Name of the relay: relays take turns. */
  readonly relay?: string
}

export interface EventsResponse {
  readonly v: number
  /**
   * JSON of RelayEvents, without order statuses, and LinkGap without a hole, the first of which may lie below `from`; none where no block of that
   * height has come yet. Null where the log does not hold it any more.
   */
  readonly frames: readonly string[] | null
  /** First height that is held, null while the log is empty. */
  readonly first: number | null
  /** Last height of the log, null while it is empty. */
  readonly head: number | null
  /** The log has read enough for others, and read nothing: ask again after this time. */
  readonly retryMs?: number
}

/** log → object of an order-level book: a block, behind it a line with the coin's rows (segment.ts) where they are known. */
export interface L4BlockHead {
  readonly v: number
  readonly t: 'l4'
  readonly epoch: string | null
  readonly height: number
  readonly time: number
}

/** Header of a dial: JSON `{v, from: 'log' | 'hub', index}` (index of the hub). Set by objects, stripped at the edge. */
export const LINK_HEADER = 'x-weir-link'
export interface LinkHeader {
  readonly v: number
  readonly from: 'log' | 'hub'
  readonly index: number
}

/** log → hub: the changes of this hub's coins in one block; an empty list is the tick. */
export interface HubBlock {
  readonly v: number
  readonly t: 'block'
  readonly epoch: string | null
  readonly height: number
  readonly time: number
  /** Null: changes unknown; the books are unknown until the next seed. */
  readonly books: readonly BookChange[] | null
  /** Last trade price of each coin of the shard that traded in this block. */
  readonly px: Readonly<Record<string, string>>
  /** In stored lines alone: coins whose books were repaired behind the block before; no block leads to what they are. */
  readonly repaired?: readonly string[]
}

/** log → hub: whole books of this hub's coins after block `height`; a long list comes in parts, applied with the last. */
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

/** log → hub: no block comes, and the link lives. */
export interface LinkTick {
  readonly v: number
  readonly t: 'tick'
}

/** log → hub: digests (level-digest.ts) of books at `height` as a feeder has them, which agree with its node's snapshot. */
export interface HubVerified {
  readonly v: number
  readonly t: 'verified'
  readonly feeder: string
  readonly height: number
  readonly books: readonly (readonly [coin: Coin, digest: number])[]
}

/** Coins whose book a hub has otherwise than `feeder`, which compared its own with its node's. */
export interface BookMismatch {
  readonly v: number
  readonly feeder: string
  readonly height: number
  readonly coins: readonly string[]
}

/**
 * log → relay: the events of one block; empty lists are the tick. Behind the JSON stands a line for each coin whose rows
 * of an order-level book it wants and the log knows (segment.ts).
 */
export interface RelayEvents {
  readonly v: number
  readonly t: 'events'
  /** Of the books at this height, null where they are unknown; left out in ticks, and of blocks that were backfilled. */
  readonly epoch?: string | null
  readonly height: number
  readonly time: number
  readonly fills: readonly UserFill[]
  readonly ledger: readonly LedgerEvent[]
  /** Empty but in blocks that pay it. */
  readonly funding?: readonly CoinFunding[]
  /** What became of TWAP orders, as the node wrote it. */
  readonly twaps?: readonly unknown[]
  /** Order statuses of the wallets that relays want (RelayWant), as the node wrote them. */
  readonly orders?: readonly unknown[]
  /** Fills that are liquidations of positions last traded through a builder. */
  readonly through?: readonly BuilderFill[]
  /** In the archive alone, of a block that the log never had: nothing else of it is known. */
  readonly only?: 'fills'
  /** In the archive alone, and before all else: what wallets paid as funding (payments.ts). */
  readonly payments?: readonly string[] | null
}

/**
 * relay → log: whose order statuses it wants from now on, and whose no more; of `l4` coins, rows of order-level books.
 * `whole`: nothing else, which a relay that woke says first. Between these it says how many characters it has read since
 * it last said so, a number.
 */
export interface RelayInterest {
  readonly v: number
  readonly t: 'want'
  readonly whole?: true
  readonly orders: { readonly add: readonly string[]; readonly drop: readonly string[] }
  readonly l4?: { readonly add: readonly string[]; readonly drop: readonly string[] }
}

/** log → all readers: heights `from` to `to` never came and never will. */
export interface LinkGap {
  readonly v: number
  readonly t: 'gap'
  readonly from: number
  readonly to: number
}

export type HubFrame = HubBlock | HubSeed | HubVerified | LinkGap | LinkTick
export type RelayFrame = RelayEvents | LinkGap
/** Parts of whole orders come as their feeder sent them. */
export type L4Frame = L4BlockHead | L4Book | LinkGap | LinkTick
