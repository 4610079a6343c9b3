// The options, limits and timeouts of a connection.

import type { Backoff } from '../core/backoff.ts'
import type { ConnectionStatus } from './api.ts'
import type { Endpoint, SocketEnd } from './runtime.ts'

/**
 * The reason why no socket may be opened now. If `retryMs` is null, the connection waits until `start` is called again.
 */
export interface ConnectRefusal {
  readonly reason: string
  readonly retryMs: number | null
}

export interface ConnectionOptions {
  /**
   * Called before every connect, because a gateway may return at a different address. Null if the endpoint is not known
   * yet; the connection then tries again later.
   */
  readonly endpoint: () => Endpoint | null
  /**
   * Called before each connect, for example to fetch a token for `endpoint`. Returns null to connect. It must never
   * reject.
   */
  readonly admit?: () => Promise<ConnectRefusal | null>
  /**
   * If present, the connection never ends because a socket ended: `admit` decides whether to reconnect. Returns the
   * reason to show.
   */
  readonly onEnd?: (end: SocketEnd) => string
  readonly onState?: (state: ConnectionStatus) => void
  /** Receives notifications, and error frames that belong to no subscription, with their `code`. */
  readonly onNotice?: (text: string, code: string | null) => void
  readonly retry?: Backoff
  readonly pingMs?: number
  /** A socket that receives no frame for this long counts as dead. The time must exceed `pingMs` plus a round trip. */
  readonly deadMs?: number
}

/** Spreads the reconnects of a thousand clients over time when a gateway returns. */
export const RETRY: Backoff = { firstMs: 200, capMs: 1_500, jitter: 1 }

export const LIMITS = {
  pingMs: 10_000,
  deadMs: 20_000,
  /** The client confirms that it has read its data after this many characters (WS-60). */
  proveEvery: 32 * 1024,
  /**
   * Maximum total length of the bodies that wait for a response. If there are more, the gateway rejects them (WS-63).
   */
  waitingChars: 256 * 1024,
  /**
   * Delay before a ping is repeated. A ping is repeated if it was rejected, or if its pong had no height because a
   * first frame was in flight.
   */
  againMs: 1_000,
  /**
   * Pings without a height in their pong are repeated only for this long, because a gateway that has no blocks never
   * sends a height.
   */
  heightsMs: 30_000,
  connectMs: 5_000,
  ackMs: 10_000,
  /** Timeout of `l2BookDiff`, which may wait two minutes in the queue for full books. */
  turnMs: 135_000,
  /** Maximum length of a body that a gateway repeats in its errors (WS-7). */
  echoChars: 4_096,
  /** If a socket lasts this long, the retry backoff starts over. */
  steadyMs: 5_000,
  /** Error codes after which the same subscribe message may succeed later. */
  passingCodes: new Set(['rate_limited', 'unavailable', 'internal', 'upstream_failed', 'upstream_timeout']),
} as const

/** HTTP statuses of a rejected upgrade after which a retry is useless. */
export const FATAL_STATUSES: Readonly<Record<number, string>> = {
  401: 'the gateway rejected this API key',
  402: 'the account has no credits left',
  403: 'this API key may not open streams',
}

/** Close codes of an open socket that correspond to these statuses. */
export const FATAL_CODES: Readonly<Record<number, string>> = {
  4401: 'the gateway no longer accepts this API key',
  4402: 'the account has no credits left',
  4403: 'this API key may not open streams',
}
