// What a connection can be told, the states it reports, and its bounds.

import type { Backoff } from '../core/backoff.ts'
import type { ConnectionStatus } from './api.ts'
import type { Endpoint, SocketEnd } from './runtime.ts'

/** Why no socket may be opened now; `retryMs` null: until `start` is called again. */
export interface ConnectRefusal {
  readonly reason: string
  readonly retryMs: number | null
}

export interface ConnectionOptions {
  /** Asked at every connect, because a gateway may return elsewhere; null: not known yet, try again. */
  readonly endpoint: () => Endpoint | null
  /** Asked before each connect, such as to fetch a token for `endpoint`; null: it may connect. Never rejects. */
  readonly admit?: () => Promise<ConnectRefusal | null>
  /** Where it is there, no end of a socket is final: `admit` decides. Answers the reason to show. */
  readonly onEnd?: (end: SocketEnd) => string
  readonly onState?: (state: ConnectionStatus) => void
  /** Error frames that belong to no subscription, such as a warning about credits. */
  readonly onNotice?: (text: string, code: string | null) => void
  readonly retry?: Backoff
  readonly pingMs?: number
  /** A socket without any frame for so long is dead; more than `pingMs` plus a round trip. */
  readonly deadMs?: number
}

/** A thousand clients of a gateway that returns do not arrive at once. */
export const RETRY: Backoff = { firstMs: 200, capMs: 1_500, jitter: 1 }

export const LIMITS = {
  pingMs: 10_000,
  deadMs: 20_000,
  /** After so many characters it proves that it has read them (WS-60). */
  proveEvery: 32 * 1024,
  /** Bodies that wait for their answers have so many characters together: a gateway refuses more (WS-63). */
  waitingChars: 256 * 1024,
  /** A ping that was refused is sent again, and one whose pong told no height: while a first frame is on its way it cannot. */
  againMs: 1_000,
  /** Not for longer: a gateway that has no block yet tells none. */
  heightsMs: 30_000,
  connectMs: 5_000,
  ackMs: 10_000,
  /** `l2BookDiff` may wait two minutes for its turn to be given whole books. */
  turnMs: 135_000,
  /** A gateway says no longer body back in its errors (WS-7). */
  echoChars: 4_096,
  /** A socket that lasted so long was a good one: the next retry is fast again. */
  steadyMs: 5_000,
  /** Codes of error frames after which the same subscribe may succeed later. */
  passingCodes: new Set(['rate_limited', 'unavailable', 'internal', 'upstream_failed', 'upstream_timeout']),
} as const

/** HTTP statuses of a refused upgrade that no retry mends. */
export const FATAL_STATUSES: Readonly<Record<number, string>> = {
  401: 'the gateway does not accept this API key',
  402: 'the account has no credits left',
  403: 'this API key may not open streams',
}

/** The same as close codes of a socket that was open. */
export const FATAL_CODES: Readonly<Record<number, string>> = {
  4401: 'the gateway no longer accepts this API key',
  4402: 'the account has no credits left',
  4403: 'this API key may not open streams',
}
