// How long to wait before trying again: exponential with full jitter, so that a thousand clients
// of a gateway that returns do not arrive at once.

export const BACKOFF_FIRST_MS = 200
export const BACKOFF_CAP_MS = 1_500

/** Wait before retry number `attempt` (0 is the first), ms; `random` is uniform in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(BACKOFF_CAP_MS, BACKOFF_FIRST_MS * 2 ** Math.min(attempt, 16)))
}
