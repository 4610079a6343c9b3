// Rate limits per caller address in one isolate. Invariants: the map is bounded; callers without a known address share
// one larger bucket; a flood of other addresses does not reset an active address.

import type { RequestLimit } from '../core/failure.ts'
import { networkOf } from '../core/network.ts'
import { RateLimiter, type RateVerdict } from '../core/rate-limiter.ts'

/** The limit of each address, and the limit that all callers with an unknown address share. */
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

/** Lookups of keys that this isolate does not remember, so active callers are not counted. */
export const KEY_LOOKUPS = rates('look-ups', 50, 2_000)
/** Requests to REST surfaces with any key: five times the largest limit of a plan for one key. */
export const REST_REQUESTS = rates('address', 250, 2_000)
/** Sockets that authenticate after connecting. */
export const KEYLESS_CONNECTS = rates('connects', 50, 1_000)
/**
 * Stream tokens for visitors who have no key. A page requests one every few minutes, and an office shares one address.
 */
export const LIVE_TOKENS = rates('live-tokens', 20, 120, 60)
/** Polling by pages that have no socket. */
export const LIVE_POLLS = rates('live-glances', 60, 1_200, 60)
/** Wrong or missing operator tokens. Correct ones are not counted. */
export const WRONG_TOKENS = rates('wrong-tokens', 20, 20, 60)
/** Requests without a key, where calls can be paid for. */
export const KEYLESS_REQUESTS = rates('keyless', 20, 500)
/** Requests for a sign-up link. */
export const SIGN_UPS = rates('sign-ups', 10, 100, 600)
/** Requests of wallets for a new key. */
export const WALLET_KEYS = rates('wallet-keys', 10, 100, 60)

/** Cloudflare's `cf-connecting-ip` for requests from Workers of other zones, which all share it. */
const WORKERS_ADDRESS = '2a06:98c0:3600::103'

/** Address of the caller; null if unknown, forgeable, or shared by the Workers of many customers. */
export function callerAddress(isProxyTrusted: boolean, headers: { get(name: string): string | null }): string | null {
  const address = isProxyTrusted ? headers.get('cf-connecting-ip') : null
  return address === WORKERS_ADDRESS ? null : address
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
 * The platform's Rate Limiting binding, `[[ratelimits]]` in wrangler.toml: one count for all isolates of a location. It
 * is inexact, so it supplements the isolate's own limit.
 */
export interface LocationLimit {
  limit(options: { readonly key: string }): Promise<{ readonly success: boolean }>
}

/** Period set in wrangler.toml. The binding does not report when it resets. */
export const LOCATION_PERIOD_MS = 10_000

/** True if the address is within the limit, if it is unknown, or if the binding is missing or fails. */
export async function isWithinLocation(binding: LocationLimit | undefined, address: string | null): Promise<boolean> {
  if (binding === undefined || address === null) return true
  try {
    return (await binding.limit({ key: networkOf(address) })).success
  } catch {
    return true
  }
}
