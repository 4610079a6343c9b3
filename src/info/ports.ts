// The ports that resolvers see. Pure interfaces; each has a client beside it or in upstream/.

import type { CandleHistory } from '../archive/candle-history.ts'
import type { CandlesRequest } from '../archive/candles.ts'
import type { FillHistory, FundingSpan, SpanFunding } from '../archive/funding-spans.ts'
import type { Coin } from '../core/coin.ts'
import type { After } from '../core/deadline.ts'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import type { EventBlock, FillScope, HeightAndTime, LedgerKind, OwnerScope } from '../protocol/feed/durable-api.ts'
import type { BookSnapshot, TopOfBook } from '../protocol/hub/hub-api.ts'
import type { Upstream } from '../upstream/upstream-api.ts'

/** Longer than the attempts of one query can take together. */
export const FLIGHT_MAX_MS = 12_000

/** Our own books, over all hubs. */
export interface Books {
  /** Null where no hub has a book of this coin. `depth` levels a side, or the whole book. */
  snapshot(coin: Coin, depth?: number): Promise<Result<BookSnapshot | null, Failure>>
  /** Best prices of every coin of every hub; `height` is the lowest among the hubs. */
  tops(): Promise<Result<{ readonly height: number; readonly tops: readonly TopOfBook[] }, Failure>>
}

/** Books as they were, out of the archive. */
export interface HistoricalBooks {
  /** A coin's book after block `height`; null where it had none. */
  at(coin: Coin, height: number): Promise<Result<BookSnapshot | null, Failure>>
}

/** Names of the builder-deployed DEXes, in the exchange's order, without the native one. */
export interface Dexes {
  names(): Promise<Result<readonly string[], Failure>>
  /** Whether a DEX of this name exists; null where nobody can say now. */
  has(name: string): Promise<boolean | null>
}

/** Fills of whatever scope, or other events of a wallet. */
export type EventKind = 'fills' | LedgerKind

/** Fills that Weir itself has seen, as far back as the log holds them. */
export interface History {
  /** Not below `downTo`, where that is known already. */
  stored(scope: FillScope, kind?: EventKind, downTo?: number): Promise<Result<FillHistory, Failure>>
  /** The newest of them alone, about a minute's: no wait, and a small part of the work. */
  newest(scope: FillScope): Promise<Result<FillHistory, Failure>>
}

export interface EventQuery {
  readonly kind: EventKind
  readonly scope: OwnerScope
  /** Only what is of times whose funding is known. */
  readonly isFunded?: boolean
}

/** Block times, both ends included. */
export interface TimeWindow {
  readonly fromMs: number
  readonly toMs: number
  readonly order: 'newest' | 'oldest'
}

export interface EventRequest extends EventQuery, TimeWindow {}

/** How a reading of the past went. */
export interface EventRead {
  /** The last block that was looked at. */
  readonly head: HeightAndTime
  /** From this block on nothing is missing of what was asked for, and was told as far as it was wanted. */
  readonly since: HeightAndTime
  /** `work`: it was too much to read on; `damage`: what comes next, or came in between, cannot be read. */
  readonly ended: 'all' | 'enough' | 'work' | 'damage'
}

/** Answers false where it has enough. `isAfterHole`: between this block and the one before are heights that nobody has. */
export type OnBlock = (block: EventBlock, isAfterHole: boolean) => boolean

/** The past as of one moment, to be read more than once; `since`: nothing that is asked for is missing from there on. */
export interface OpenEventHistory extends Pick<EventRead, 'head' | 'since'> {
  /** Tells blocks in the order asked for, each once, until there is enough. */
  read(window: TimeWindow, take: OnBlock): Promise<Result<EventRead, Failure>>
  /** What the files know to be paid in each span, within what was told without a hole: what the log knows comes with its blocks. */
  funding(spans: readonly FundingSpan[]): Promise<Result<readonly SpanFunding[], Failure>>
}

/** All that Weir has kept: the log, and behind it the files of the archive. */
export interface EventHistory {
  /** Whether it goes beyond the log. */
  readonly isDeep: boolean
  open(events: EventQuery): Promise<Result<OpenEventHistory, Failure>>
  read(request: EventRequest, take: OnBlock): Promise<Result<EventRead, Failure>>
  /** Null where no candles are kept. */
  candles(request: CandlesRequest): Promise<Result<CandleHistory, Failure> | null>
}

export interface Sources {
  readonly books: Books
  readonly historicalBooks: HistoricalBooks
  readonly upstream: Upstream
  readonly dexes: Dexes
  readonly history: History
  readonly events: EventHistory
  /** Time that passes, for bounds on what is asked of others. */
  readonly after: After
}
