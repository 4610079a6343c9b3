// Why a question failed, the one error of the client package; and why something of a client ended, as a code for programs and
// a sentence for people.

import type { End, FailureCode } from './api.ts'
import { reasonOf } from './subscription.ts'

export interface FailureDetails {
  readonly status?: number | null
  readonly retryAfterMs?: number | null
  readonly requestId?: string | null
}

export class WeirError extends Error {
  override readonly name: string = 'WeirError'
  /** What a program decides by. */
  readonly code: FailureCode
  /** Of HTTP; null where nobody answered. */
  readonly status: number | null
  /** Not to be tried again before. */
  readonly retryAfterMs: number | null
  /** Names the question to the operator. */
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

/** By status of HTTP, where an answer has no code that can be read, and by close code. */
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

/** The gateway will not serve a body; `code` as it says, or as its text lets guess. */
export function refusalOf(text: string, code?: string): End {
  const message = reasonOf(text)
  if (code) return { code, message }
  return { code: /not found|no such|unknown coin/i.test(message) ? 'not_found' : 'invalid_request', message }
}

/** The gateway will not serve this key. */
export function fatalOf(reason: string, status: number): End {
  return { code: BY_STATUS[status] ?? 'closed', message: reason }
}
