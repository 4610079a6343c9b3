// Bounds what one address may ask of an isolate, a second or a minute. Laws: a bounded map; callers without a known address
// share one wide bucket; a flood of addresses resets nobody who keeps coming.

import type { RequestLimit } from '../core/failure.ts'
import { networkOf } from '../core/network.ts'
import { RateLimiter, type RateVerdict } from '../core/rate-limiter.ts'

/** The limit of an address, and that of all callers together whose address is not known. */
export interface AddressRates {
  readonly each: RequestLimit
  readonly unknown: RequestLimit
}

export interface AddressVerdict extends RateVerdict {
  readonly limit: RequestLimit
}

const rates = (name: string, each: number, unknown: number, windowSeconds = 1): AddressRates => ({
  each: { name, quota: each, windowSeconds },
  unknown: { name, quota: unknown, windowSeconds },
})

/** Keys that have to be looked up: those that this isolate does not remember, so that callers at work are not counted. */
export const KEY_LOOKUPS = rates('look-ups', 50, 2_000)
/** Requests to the REST surfaces, with whatever keys: five times what the largest plan with a limit allows one key. */
export const REST_REQUESTS = rates('address', 250, 2_000)
/** Sockets whose key comes later. */
export const KEYLESS_CONNECTS = rates('connects', 50, 1_000)
/** Stream tokens for visitors who are nobody's: a page asks for one each few minutes, an office shares an address. */
export const LIVE_TOKENS = rates('live-tokens', 20, 120, 60)
/** What a page without frames reads every few seconds. */
export const LIVE_POLLS = rates('live-glances', 60, 1_200, 60)
/** Operator's tokens that are wrong or missing; the right one is never counted. */
export const WRONG_TOKENS = rates('wrong-tokens', 20, 20, 60)
/** Requests for a link of the sign-up. */
export const SIGN_UPS = rates('sign-ups', 10, 100, 600)

/** Where a request comes from; null where that is unknown, or could be the caller's own invention. */
export function callerAddress(isProxyTrusted: boolean, headers: { get(name: string): string | null }): string | null {
  return isProxyTrusted ? headers.get('cf-connecting-ip') : null
}

const UNKNOWN = ''

export class AddressLimiter {
  readonly #rates: AddressRates
  readonly #limiter = new RateLimiter()

  constructor(rates: AddressRates) {
    this.#rates = rates
  }

  take(address: string | null, nowMs: number): AddressVerdict {
    const network = address === null ? UNKNOWN : networkOf(address)
    const limit = network === UNKNOWN ? this.#rates.unknown : this.#rates.each
    return { ...this.#limiter.take(network, limit, nowMs), limit }
  }
}

/**
 * The platform's Rate Limiting binding, `[[ratelimits]]` of wrangler.toml: one count for all isolates of a location. It is
 * not exact, so it stands behind the isolate's own count and not in its place.
 */
export interface LocationLimit {
  limit(options: { readonly key: string }): Promise<{ readonly success: boolean }>
}

/** The period in wrangler.toml: the binding does not say when it will let the next one pass. */
export const LOCATION_PERIOD_MS = 10_000

/** True where one more is within the limit; also without a binding or a known address, and where the binding fails. */
export async function isWithinLocation(binding: LocationLimit | undefined, address: string | null): Promise<boolean> {
  if (binding === undefined || address === null) return true
  try {
    return (await binding.limit({ key: networkOf(address) })).success
  } catch {
    return true
  }
}
