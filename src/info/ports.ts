// The ports that resolvers see. Pure interfaces; each has a client beside it or in upstream/.

import type { BookSnapshot, TopOfBook } from '../book/hub-api.ts'
import type { After } from '../core/deadline.ts'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import type { FillScope } from '../feed/held-fills.ts'
import type { HeldFills } from '../history/held-runs.ts'
import type { Upstream } from '../upstream/upstream-api.ts'

/** Our own books, over all hubs. */
export interface Books {
  /** Null where no hub has a book of this coin. `depth` levels a side, or the whole book. */
  snapshot(coin: string, depth?: number): Promise<Result<BookSnapshot | null, Failure>>
  /** Best prices of every coin of every hub; `height` is the lowest among the hubs. */
  tops(): Promise<Result<{ readonly height: number; readonly tops: readonly TopOfBook[] }, Failure>>
}

/** Books as they were, out of the archive. */
export interface PastBooks {
  /** A coin's book after block `height`; null where it had none. */
  at(coin: string, height: number): Promise<Result<BookSnapshot | null, Failure>>
}

/** Names of the builder-deployed DEXes, in the exchange's order, without the native one. */
export interface Dexes {
  names(): Promise<Result<readonly string[], Failure>>
  /** Whether a DEX of this name exists; null where nobody can say now. */
  has(name: string): Promise<boolean | null>
}

/** Fills that Weir itself has seen, as far back as they are held. */
export interface History {
  held(scope: FillScope): Promise<Result<HeldFills, Failure>>
  /** The newest of them alone, about a minute's: no wait, and a small part of the work. */
  newest(scope: FillScope): Promise<Result<HeldFills, Failure>>
}

export interface Sources {
  readonly books: Books
  readonly pastBooks: PastBooks
  readonly upstream: Upstream
  readonly dexes: Dexes
  readonly history: History
  /** Time that passes, for bounds on what is asked of others. */
  readonly after: After
}
