// The error of the client package, and the reasons for which a stream ends. Each has a machine-readable code and a
// message for people.

import type { End, FailureCode } from './api.ts'
import { reasonOf } from './subscription.ts'

export interface FailureDetails {
  readonly status?: number | null
  readonly retryAfterMs?: number | null
  readonly requestId?: string | null
}

/**
 * The error of info requests and streams. Branch on `code`; `message` is for people.
 *
 * @example
 * ```ts
 * import { createClient, WeirError } from '@weir/client'
 *
 * const client = createClient({ url: 'https://weir.example.com', key: process.env.WEIR_KEY ?? '' })
 * try {
 *   await client.info('l2Book', { coin: 'BTC' })
 * } catch (error) {
 *   if (error instanceof WeirError && error.code === 'rate_limited') console.log(error.retryAfterMs)
 *   else throw error
 * }
 * ```
 * @see {@link FailureCode}
 */
export class WeirError extends Error {
  override readonly name: string = 'WeirError'
  /** Error code to branch on. */
  readonly code: FailureCode
  /** HTTP status; null if there was no response. */
  readonly status: number | null
  /** Minimum time before a retry, in milliseconds. */
  readonly retryAfterMs: number | null
  /** Request ID to quote to the operator. */
  readonly requestId: string | null

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message)
    this.code = code
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.requestId = details.requestId ?? null
  }
}

export const CLOSED: End = { code: 'closed', message: 'closed' }
export const ABORTED: End = { code: 'aborted', message: 'the signal was aborted' }

/** Codes by HTTP status, for responses without a readable code, and by close code. */
export const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  402: 'credits_exhausted',
  403: 'forbidden',
  404: 'not_found',
  429: 'rate_limited',
  502: 'upstream_failed',
  503: 'unavailable',
  504: 'upstream_timeout',
  4401: 'unauthorized',
  4402: 'credits_exhausted',
  4403: 'forbidden',
}

/** The end of a stream whose body was rejected. `code` is the gateway's code, or is derived from the message. */
export function refusalOf(text: string, code?: string): End {
  const message = reasonOf(text)
  if (code) return { code, message }
  return { code: /not found|no such|unknown coin/i.test(message) ? 'not_found' : 'invalid_request', message }
}

/** The end of a stream whose key was rejected. */
export function fatalOf(reason: string, status: number): End {
  return { code: BY_STATUS[status] ?? 'closed', message: reason }
}
