// Requests per second, leased like credits: the isolate's side of one bucket. Tokens are fetched ahead and last 2.5 s,
// or 15 s if they are few. Unused tokens are lost, never returned. Invariant: no request proceeds without a token,
// unless the meter is unreachable; then the isolate limits itself to the plan's rate.

import { UsageRate } from '../core/local-lease.ts'
import type { RateTokenRequest, RateTokenResponse } from './lease-api.ts'
import { tokensAhead } from './request-buckets.ts'

/** Tokens fetched ahead expire this long after the request for them. */
export const TOKENS_TTL_MS = 2_500

/**
 * A local stock of at most a 64th of a second's tokens lasts longer, so that a slow caller does not need an exchange
 * for each call.
 */
const FEW_SHARE = 64
export const FEW_TTL_MS = 15_000

type RequestVerdict = 'go' | 'ask' | { readonly waitMs: number }

export class RequestLease {
  readonly bucket: string
  readonly perSecond: number
  #tokens = 0
  #requestedMs = Number.NEGATIVE_INFINITY
  #refusedUntilMs = 0
  readonly #usage = new UsageRate()
  #remaining: number
  #remainingAtMs = 0

  constructor(bucket: string, perSecond: number) {
    this.bucket = bucket
    this.perSecond = perSecond
    this.#remaining = perSecond
  }

  take(nowMs: number): RequestVerdict {
    const here = this.#available(nowMs)
    if (here > 0) {
      this.#tokens = here - 1
      this.#usage.count(1)
      return 'go'
    }
    return nowMs < this.#refusedUntilMs ? { waitMs: this.#refusedUntilMs - nowMs } : 'ask'
  }

  /** Tokens to request; null if `waiting` is 0 and the local tokens last until the next report. */
  request(waiting: number, nowMs: number): RateTokenRequest | null {
    const soon = this.#usage.forecast(1_500, nowMs, 4_000)
    const later = Math.min(this.#few, this.#usage.forecast(FEW_TTL_MS, nowMs))
    const forecast = Math.max(soon, later) - this.#available(nowMs)
    this.#usage.reset(nowMs)
    if (waiting === 0 && forecast <= 0) return null
    const { bucket, perSecond } = this
    return { bucket, perSecond, need: waiting, forecast: Math.max(0, forecast) }
  }

  /** Applies the meter's response to a request sent at `sentAtMs`. */
  applyResponse(
    ask: RateTokenRequest,
    { granted, waitMs, remaining }: RateTokenResponse,
    sentAtMs: number,
    nowMs: number,
  ): void {
    this.#tokens = Math.min(this.#available(nowMs) + granted, Math.max(ask.need, tokensAhead(this.perSecond)))
    this.#requestedMs = sentAtMs
    // Calls that waited may have an older clock, because the platform's clock only advances with a request's own I/O.
    this.#refusedUntilMs = waitMs > 0 ? nowMs + waitMs : 0
    this.#remaining = remaining
    this.#remainingAtMs = nowMs
  }

  /** The meter did not respond, so the isolate limits requests locally for one second. */
  rationLocally(nowMs: number): void {
    this.#tokens = Math.max(1, Math.floor(this.perSecond))
    this.#requestedMs = nowMs + 1_000 - TOKENS_TTL_MS
    this.#refusedUntilMs = 0
  }

  /**
   * Rate-limit headers of the IETF draft. Null if more than the fraction `atMost` remains, as far as the isolate knows.
   */
  headers(nowMs: number, atMost = 1): { ratelimit: string; 'ratelimit-policy': string } | null {
    const { bucket, perSecond } = this
    const here = this.#available(nowMs)
    const inMeter = this.#remaining + ((nowMs - this.#remainingAtMs) * perSecond) / 1000
    const left = Math.min(perSecond, Math.floor(here + inMeter))
    if (left > perSecond * atMost) return null
    return {
      ratelimit: `"${bucket}";r=${left};t=${left < perSecond ? 1 : 0}`,
      'ratelimit-policy': `"${bucket}";q=${perSecond};w=1`,
    }
  }

  get #few(): number {
    return Math.floor(this.perSecond / FEW_SHARE)
  }

  #available(nowMs: number): number {
    const ageMs = nowMs - this.#requestedMs
    if (ageMs < TOKENS_TTL_MS) return this.#tokens
    return ageMs < FEW_TTL_MS ? Math.min(this.#tokens, this.#few) : 0
  }
}
