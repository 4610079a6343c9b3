// Public types of the client package, written for users who read them in an editor. They depend only on the wire types.

import type { ChannelTypes, InfoTypes } from './wire.ts'

export type { ChannelTypes, InfoTypes }
export type InfoType = keyof InfoTypes
export type ChannelType = keyof ChannelTypes
/** Fields of an info request other than its `type`. */
export type InfoFields<T extends InfoType> = Omit<InfoTypes[T]['request'], 'type'>
export type InfoAnswer<T extends InfoType> = InfoTypes[T]['answer']
/** A subscription: `type` and the fields of its channel. */
export type Body<T extends ChannelType = ChannelType> = { [K in T]: ChannelTypes[K]['body'] }[T]
export type Frame<T extends ChannelType = ChannelType> = ChannelTypes[T]['frame']
/** One price level. Price and size are decimal strings; `n` is the number of orders. */
export interface BookLevel {
  readonly px: string
  readonly sz: string
  readonly n: number
}
/** Levels of both sides, best first. */
export type BookLevels = readonly [bids: readonly BookLevel[], asks: readonly BookLevel[]]

export type ConnectionStatus =
  | { readonly state: 'connecting'; readonly attempt: number }
  | { readonly state: 'open' }
  | { readonly state: 'waiting'; readonly retryMs: number; readonly reason: string }
  /** The key was rejected or has no credits, so the client does not reconnect. */
  | { readonly state: 'fatal'; readonly reason: string; readonly status: number }
  | { readonly state: 'closed' }

export interface Answer<T> {
  readonly data: T
  /** Credits as decimal strings; null if the gateway does not report them. */
  readonly credits: { readonly cost: string | null; readonly remaining: string | null }
  /** Height of the block that the response shows; null if it shows no particular block. */
  readonly height: number | null
  /** Age of the response in seconds; null if it is current. */
  readonly ageSeconds: number | null
  /** Cursor of the next page of a list that was requested by `cursor`; null if no page follows. */
  readonly nextCursor: string | null
  readonly requestId: string | null
}

/**
 * Error codes of the gateway, and codes of this package: `network`, `timeout`, `aborted`, `closed`, `unreadable`,
 * `already_subscribed`, `page_too_dense`.
 */
export type FailureCode =
  | 'unauthorized'
  | 'forbidden'
  | 'credits_exhausted'
  | 'rate_limited'
  | 'invalid_request'
  | 'unsupported_type'
  | 'not_found'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'unavailable'
  | 'internal'
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'closed'
  | 'unreadable'
  | 'already_subscribed'
  | 'page_too_dense'
  | (string & {})

/**
 * Events are missing from height `from` to height `to`, both inclusive. A height is null if it is unknown or if the gap
 * has not ended yet.
 */
export interface Gap {
  readonly from: number | null
  readonly to: number | null
  readonly reason: string
}

/** The end of a stream. `closed` and `aborted`: the caller ended it. `finished`: a replay reached its end. */
export interface End {
  readonly code: FailureCode | 'finished'
  readonly message: string
}

export type StreamEvent<T extends ChannelType = ChannelType> =
  /** The gateway acknowledged the subscription, for the first time or after a reconnect. */
  | { readonly type: 'live' }
  | { readonly type: 'data'; readonly frame: Frame<T> }
  | { readonly type: 'gap'; readonly gap: Gap }
  /** Always the last event. */
  | { readonly type: 'end'; readonly end: End }

export interface Subscription<T extends ChannelType = ChannelType> extends AsyncIterable<StreamEvent<T>> {
  /**
   * All events up to this block are in the queue. To continue later, pass the next height as `fromBlock`. Null while
   * the height is unknown.
   */
  readonly height: number | null
  /** Unsubscribes and ends the iteration. Leaving a `for await` loop does the same. */
  close(): void
}

/**
 * `in step`: the book matches the server's book. `out of step`: the book cannot be trusted. `syncing`: the book is
 * being fetched. For several books together, this is the worst of their states, and `syncing` at first.
 */
export type Step = 'in step' | 'syncing' | 'out of step'

/** A book that verifies itself with sequence numbers and checksums. It has levels only while it is in step. */
export interface Book {
  readonly coin: string
  readonly step: Step
  /** The reason why the book is not in step; empty if it is in step. */
  readonly why: string
  readonly epoch: string
  /** The height up to which the book is current. */
  readonly height: number
  /** Time of the block at `height`, in Unix milliseconds. */
  readonly time: number
  readonly seq: number
  /** Number of matching checksums. */
  readonly checks: number
  /** Returns `depth` levels per side, best first. Both sides are empty if the book is not in step. */
  levels(depth?: number): BookLevels
}

export type BookEvent =
  /** A book that is in step has changed. Only the latest event of each coin is queued. */
  | { readonly type: 'book'; readonly book: Book }
  | { readonly type: 'step'; readonly coin: string; readonly step: Step; readonly why: string }
  | { readonly type: 'gap'; readonly coin: string; readonly gap: Gap }
  /** The gateway does not have this coin at present. */
  | { readonly type: 'unknown'; readonly coin: string }
  | { readonly type: 'end'; readonly end: End }

export interface Books extends AsyncIterable<BookEvent> {
  get(coin: string): Book
  /** The worst state of all coins. */
  readonly step: Step
  close(): void
}

/** The range of a replay. Set exactly one of `fromTime` (Unix milliseconds) and `fromBlock`. */
export interface Range {
  readonly fromTime?: number
  readonly fromBlock?: number
  readonly toTime?: number
  readonly toBlock?: number
  /** Speed factor from 1 to 300, or `max`. */
  readonly speed?: number | 'max'
}

export interface Replay<T extends ChannelType = ChannelType> extends AsyncIterable<StreamEvent<T>> {
  pause(): void
  resume(): void
  seek(to: Pick<Range, 'fromTime' | 'fromBlock'>): void
  close(): void
}

/** Info types whose responses have several pages. */
export type HistoryType =
  | 'builderFills'
  | 'builderFillsByTime'
  | 'candleSnapshot'
  | 'fundingHistory'
  | 'userCompletedTradesByTime'
  | 'userFillsByTime'
  | 'userFunding'
  | 'userNonFundingLedgerUpdates'
  | 'userTwapSliceFillsByTime'
export type HistoryRow<T extends HistoryType> = InfoTypes[T]['answer'][number]
/** A page of rows that earlier pages did not contain. */
export interface Page<Row> extends Answer<readonly Row[]> {}
