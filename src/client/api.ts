// What the client package offers, as types alone: what users read in their editor. They stand on nothing but the wire's types.

import type { ChannelTypes, InfoTypes } from './wire.ts'

export type { ChannelTypes, InfoTypes }
export type InfoType = keyof InfoTypes
export type ChannelType = keyof ChannelTypes
/** Fields of a question beside its `type`. */
export type InfoFields<T extends InfoType> = Omit<InfoTypes[T]['request'], 'type'>
export type InfoAnswer<T extends InfoType> = InfoTypes[T]['answer']
/** A subscription: `type` and the fields of its channel. */
export type Body<T extends ChannelType = ChannelType> = { [K in T]: ChannelTypes[K]['body'] }[T]
export type Frame<T extends ChannelType = ChannelType> = ChannelTypes[T]['frame']
/** Prices and sizes are decimal strings; `n` orders. */
export interface BookLevel {
  readonly px: string
  readonly sz: string
  readonly n: number
}
/** Best first. */
export type BookLevels = readonly [bids: readonly BookLevel[], asks: readonly BookLevel[]]

export type ConnectionStatus =
  | { readonly state: 'connecting'; readonly attempt: number }
  | { readonly state: 'open' }
  | { readonly state: 'waiting'; readonly retryMs: number; readonly reason: string }
  /** No retry mends it: the key or its credits. */
  | { readonly state: 'fatal'; readonly reason: string; readonly status: number }
  | { readonly state: 'closed' }

export interface Answer<T> {
  readonly data: T
  /** Decimal strings of credits; null where the gateway does not say. */
  readonly credits: { readonly cost: string | null; readonly remaining: string | null }
  /** Of the block that the answer is of; null where it is of none. */
  readonly height: number | null
  /** How old the answer is, in seconds; null where it is of now. */
  readonly ageSeconds: number | null
  readonly requestId: string | null
}

/** Codes of the gateway, and those of this package: `network`, `timeout`, `aborted`, `closed`, `unreadable`, `already_subscribed`. */
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

/** Events between `from` and `to` (heights, both included) are missing; null: not known, or not over yet. */
export interface Gap {
  readonly from: number | null
  readonly to: number | null
  readonly reason: string
}

/** Nothing comes any more. `closed` and `aborted` were asked for; `finished`: all of a replay was played. */
export interface End {
  readonly code: FailureCode | 'finished'
  readonly message: string
}

export type StreamEvent<T extends ChannelType = ChannelType> =
  /** Acknowledged, also after a reconnect. */
  | { readonly type: 'live' }
  | { readonly type: 'data'; readonly frame: Frame<T> }
  | { readonly type: 'gap'; readonly gap: Gap }
  /** Always the last one. */
  | { readonly type: 'end'; readonly end: End }

export interface Subscription<T extends ChannelType = ChannelType> extends AsyncIterable<StreamEvent<T>> {
  /** All up to this block was delivered to the queue: who keeps it can go on from it. Null before it is known. */
  readonly height: number | null
  /** Ends it at the gateway, too. Leaving a `for await` does the same. */
  close(): void
}

/**
 * `in step`: nothing speaks against it; `out of step`: there is no book to be trusted; `syncing`: it is being fetched. Of all
 * together the worst of them, where nothing is yet `syncing`.
 */
export type Step = 'in step' | 'syncing' | 'out of step'

/** A book that checks itself: sequence numbers and checksums. It has levels only while nothing speaks against them. */
export interface Book {
  readonly coin: string
  readonly step: Step
  /** Why it is not in step; empty where it is. */
  readonly why: string
  readonly epoch: string
  /** Up to which it holds. */
  readonly height: number
  /** Of its block, ms. */
  readonly time: number
  readonly seq: number
  /** Checksums that it had in common with the server. */
  readonly checks: number
  /** Best first, `depth` levels a side; both sides empty where it is not in step. */
  levels(depth?: number): BookLevels
}

export type BookEvent =
  /** In step, and just changed. Only the latest of a coin waits. */
  | { readonly type: 'book'; readonly book: Book }
  | { readonly type: 'step'; readonly coin: string; readonly step: Step; readonly why: string }
  | { readonly type: 'gap'; readonly coin: string; readonly gap: Gap }
  /** The gateway has no such coin, at present. */
  | { readonly type: 'unknown'; readonly coin: string }
  | { readonly type: 'end'; readonly end: End }

export interface Books extends AsyncIterable<BookEvent> {
  get(coin: string): Book
  /** Of all coins together: the worst. */
  readonly step: Step
  close(): void
}

/** Exactly one of `fromTime` (Unix ms) and `fromBlock`. */
export interface Range {
  readonly fromTime?: number
  readonly fromBlock?: number
  readonly toTime?: number
  readonly toBlock?: number
  /** So many times as fast as it was, 1 to 300. */
  readonly speed?: number | 'max'
}

export interface Replay<T extends ChannelType = ChannelType> extends AsyncIterable<StreamEvent<T>> {
  pause(): void
  resume(): void
  seek(to: Pick<Range, 'fromTime' | 'fromBlock'>): void
  close(): void
}

/** Types whose answers come in pages. */
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
/** A page of rows that did not come before. */
export interface Page<Row> extends Answer<readonly Row[]> {}
