// Options, limits and timeouts of a connection.

import type { Backoff } from '../core/backoff.ts'
import type { ConnectionStatus } from './api.ts'
import type { Endpoint, SocketEnd } from './runtime.ts'

/** Why no socket may be opened now. `retryMs` null: wait until `start` is called again. */
export interface ConnectRefusal {
  readonly reason: string
  readonly retryMs: number | null
}

export interface ConnectionOptions {
  /** Called at every connect, because a gateway may return at another address. Null: unknown, try again later. */
  readonly endpoint: () => Endpoint | null
  /** Called before each connect, for example to fetch a token for `endpoint`. Null: connect. Never rejects. */
  readonly admit?: () => Promise<ConnectRefusal | null>
  /**
   * If present, the end of a socket is never fatal, and `admit` decides whether to reconnect. Returns the reason to
   * show.
   */
  readonly onEnd?: (end: SocketEnd) => string
  readonly onState?: (state: ConnectionStatus) => void
  /** Error frames that belong to no subscription, such as a credit warning. */
  readonly onNotice?: (text: string, code: string | null) => void
  readonly retry?: Backoff
  readonly pingMs?: number
  /** A socket that receives no frame for this long is dead. The time exceeds `pingMs` plus a round trip. */
  readonly deadMs?: number
}

/** Spreads the reconnects of a thousand clients when a gateway returns. */
export const RETRY: Backoff = { firstMs: 200, capMs: 1_500, jitter: 1 }

export const LIMITS = {
  pingMs: 10_000,
  deadMs: 20_000,
  /** The client confirms that it has read its data after this many characters (WS-60). */
  proveEvery: 32 * 1024,
  /** Maximum total length of the bodies that wait for a response. The gateway rejects more (WS-63). */
  waitingChars: 256 * 1024,
  /**
   * Delay before repeating a ping that was rejected, or whose pong had no height because a first frame was in flight.
   */
  againMs: 1_000,
  /** The client repeats such pings only for this long, because a gateway that has no blocks never sends a height. */
  heightsMs: 30_000,
  connectMs: 5_000,
  ackMs: 10_000,
  /** `l2BookDiff` may wait two minutes in the queue for full books. */
  turnMs: 135_000,
  /** A gateway does not echo longer bodies in its errors (WS-7). */
  echoChars: 4_096,
  /** A socket that lasted this long resets the retry backoff. */
  steadyMs: 5_000,
  /** Error codes after which the same subscribe may succeed later. */
  passingCodes: new Set(['rate_limited', 'unavailable', 'internal', 'upstream_failed', 'upstream_timeout']),
} as const

/** HTTP statuses of a rejected upgrade that a retry cannot fix. */
export const FATAL_STATUSES: Readonly<Record<number, string>> = {
  401: 'the gateway rejected this API key',
  402: 'the account has no credits left',
  403: 'this API key may not open streams',
}

/** The equivalent close codes of an open socket. */
export const FATAL_CODES: Readonly<Record<number, string>> = {
  4401: 'the gateway no longer accepts this API key',
  4402: 'the account has no credits left',
  4403: 'this API key may not open streams',
}
