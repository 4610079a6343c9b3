// Messages of the request log between those that serve calls and the account's meter. Types only.

import type { Product } from '../../accounts/identity.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { KeyHash } from '../../core/ids.ts'

/** A call, or an event of a socket. */
export interface LoggedCall {
  readonly keyHash: KeyHash
  /** When it began. */
  readonly atMs: number
  readonly product: Product
  /** Type, method, endpoint, channel or event. It contains no invisible characters. */
  readonly type: string
  readonly status: number
  /** Error code; empty if the call was answered. */
  readonly code: string
  /** Null: an event of a socket, which has no duration. */
  readonly ms: number | null
  readonly micro: MicroCredits
  /** Empty for an event of a socket. */
  readonly requestId: string
}

/** Calls of a key that began in a minute. Unlike the rows of a batch, they are complete. */
export interface CallCounts {
  readonly keyHash: KeyHash
  /** Minutes since 1970. */
  readonly minute: number
  readonly calls: number
  /** Calls with status 4xx, including those with 429. */
  readonly refused: number
  /** Calls with status 5xx. */
  readonly failed: number
  /** Calls with status 429. */
  readonly limited: number
}

/** Calls since the source's last batch. A batch that is repeated keeps its number. */
export interface LogBatch {
  /** Random id of the buffer that the calls waited in. */
  readonly source: string
  /** Number of the batch, from 1. */
  readonly number: number
  /** Number of all calls, including those that are not in `rows`. */
  readonly calls: number
  readonly rows: readonly LoggedCall[]
  /** Absent: the source has a version without counts. */
  readonly counts?: readonly CallCounts[]
}

/** Part of a stored log. */
export interface LogChunk {
  /** Times of its oldest and newest call. */
  readonly sinceMs: number
  readonly untilMs: number
  /** Number of calls that it lacks. */
  readonly leftOut: number
  /** One line per batch (`log-lines.ts`). */
  readonly lines: string
}

export interface LogChunks {
  /** Newest first, by `untilMs`. */
  readonly chunks: readonly LogChunk[]
  /** `untilMs` of the first chunk that is not in `chunks`; null: there is none. */
  readonly restMs: number | null
  /** How long calls are kept; 0: there is no log. */
  readonly keptMs: number
}

export interface LogMeterApi {
  /** Chunks with calls from `sinceMs` to `untilMs`, newest first, at most a megabyte. */
  requestLog(sinceMs: number, untilMs: number): Promise<LogChunks>
}
