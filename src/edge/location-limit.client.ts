// The platform's Rate Limiting binding: one count for all isolates of a location, where an isolate's own count stops.
// It is not exact (the platform says so itself), so it stands behind the isolate's count and not in its place.

import { networkOf } from '../core/network.ts'

/** `[[ratelimits]]` of wrangler.toml, as much of it as is used. */
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
