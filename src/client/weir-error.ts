// The one error of the client package.

import type { FailureCode } from './api.ts'

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
