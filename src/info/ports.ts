// Interfaces of the sources that resolvers use.

import type { CandleHistory } from '../archive/candle-history.ts'
import type { CandlesRequest } from '../archive/candles.ts'
import type { FillHistory, FundingSpan, SpanFunding } from '../archive/funding-spans.ts'
import type { PositionChange } from '../archive/positions.ts'
import type { Coin } from '../core/coin.ts'
import type { After } from '../core/deadline.ts'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import type { Address } from '../protocol/feed/block.ts'
import type { EventBlock, FillScope, HeightAndTime, LedgerKind, OwnerScope } from '../protocol/feed/durable-api.ts'
import type { BookSnapshot, TopOfBook } from '../protocol/hub/hub-api.ts'
import type { Upstream } from '../upstream/upstream-api.ts'

/** Maximum duration of a fetch. It exceeds the total time of all attempts of one query. */
export const FLIGHT_MAX_MS = 12_000

/** Our own order books, over all hubs. */
export interface Books {
  /** Null if no hub has a book of this coin. Returns `depth` levels per side, or the whole book. */
  snapshot(coin: Coin, depth?: number): Promise<Result<BookSnapshot | null, Failure>>
  /** Best prices of all coins; `height` is the lowest among the hubs. */
  tops(): Promise<Result<{ readonly height: number; readonly tops: readonly TopOfBook[] }, Failure>>
}

export type PastMoment = { readonly height: number } | { readonly timeMs: number }

/** Past order books from the archive. */
export interface HistoricalBooks {
  /** Book of a coin after a block, or after the last block at or before a time; null if it had none. */
  at(coin: Coin, moment: PastMoment): Promise<Result<BookSnapshot | null, Failure>>
}

/** Builder-deployed DEXes in the exchange's order, without the main one. */
export interface Dexes {
  names(): Promise<Result<readonly string[], Failure>>
  /** Whether this DEX exists; null if that is currently unknown. */
  has(name: string): Promise<boolean | null>
}

/** Fills of any scope, or other events of a wallet. */
export type EventKind = 'fills' | LedgerKind

/** Events in the block log. */
export interface History {
  /** All events of the scope, down to height `downTo` if given. */
  stored(scope: FillScope, kind?: EventKind, downTo?: number): Promise<Result<FillHistory, Failure>>
  /** Returns only the events of about the last minute, without waiting. */
  newest(scope: FillScope): Promise<Result<FillHistory, Failure>>
}

export interface EventQuery {
  readonly kind: EventKind
  readonly scope: OwnerScope
  /** Contains only times for which funding is known. */
  readonly isFunded?: boolean
}

/** Range of block times, both ends inclusive. */
export interface TimeWindow {
  readonly fromMs: number
  readonly toMs: number
  readonly order: 'newest' | 'oldest'
  /** Height at which reading starts; absent: at the end of the history. A gap next to it is reported. */
  readonly from?: number
}

export interface EventRequest extends EventQuery, TimeWindow {}

/** Outcome of a history read. */
export interface EventRead {
  /** The newest block considered. */
  readonly head: HeightAndTime
  /** The result is complete starting at this block. */
  readonly since: HeightAndTime
  /** Why the read stopped. `work`: too many rows; `damage`: unreadable data. */
  readonly ended: 'all' | 'enough' | 'work' | 'damage'
}

/** Receives a block and returns false to stop. `isAfterHole`: heights are missing before this block. */
export type OnBlock = (block: EventBlock, isAfterHole: boolean) => boolean

/** A consistent view of the history that can be read repeatedly; complete starting at `since`. */
export interface OpenEventHistory extends Pick<EventRead, 'head' | 'since'> {
  /** Passes each block once, in the requested order, until `take` returns false. */
  read(window: TimeWindow, take: OnBlock): Promise<Result<EventRead, Failure>>
  /** Funding paid in each span according to the files; funding in the log is part of its blocks. */
  funding(spans: readonly FundingSpan[]): Promise<Result<readonly SpanFunding[], Failure>>
}

/** The last changes of all wallets' positions in a coin, up to `height`. */
export interface CoinPositions extends Pick<EventRead, 'head' | 'since'> {
  readonly height: number
  /** From this block on, none up to `height` is missing. Above `height` if that block is missing. */
  readonly lastGap: number
  readonly byUser: ReadonlyMap<Address, PositionChange>
}

/** The complete stored history: block log and archive files. */
export interface EventHistory {
  /** True if there are archive files beyond the log. */
  readonly isDeep: boolean
  open(events: EventQuery): Promise<Result<OpenEventHistory, Failure>>
  read(request: EventRequest, take: OnBlock): Promise<Result<EventRead, Failure>>
  /** The positions of all wallets in a perp after a block; `height` undefined: the newest block. */
  positions(coin: Coin, height?: number): Promise<Result<CoinPositions, Failure>>
  /** Null if no candles are stored. */
  candles(request: CandlesRequest): Promise<Result<CandleHistory, Failure> | null>
}

export interface Sources {
  readonly books: Books
  readonly historicalBooks: HistoricalBooks
  readonly upstream: Upstream
  readonly dexes: Dexes
  readonly history: History
  readonly events: EventHistory
  /** Timer for timeouts of calls to sources. */
  readonly after: After
}
