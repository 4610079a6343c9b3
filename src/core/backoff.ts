// Exponential backoff with jitter, so that clients that failed together do not retry together. Callers pass
// the random number.

export interface Backoff {
  readonly firstMs: number
  readonly capMs: number
  /** Random part of the delay: 1 is full jitter; with 0.5 at least half of the delay remains. */
  readonly jitter: number
}

/** Delay before retry `attempt` (0 is the first), in ms. `random` is uniform in [0, 1). */
export function backoffMs({ firstMs, capMs, jitter }: Backoff, attempt: number, random: number): number {
  const longestMs = Math.min(capMs, firstMs * 2 ** Math.min(attempt, 30))
  return Math.floor(longestMs * (1 - jitter + jitter * random))
}
