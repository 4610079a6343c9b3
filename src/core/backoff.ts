// Exponential backoff with jitter, so that clients that failed together do not retry together. Callers supply the
// random number.

export interface Backoff {
  readonly firstMs: number
  readonly capMs: number
  /** Random share of the delay. With 1, all of the delay is random; with 0.5, at least half of the delay remains. */
  readonly jitter: number
}

/** Delay in ms before retry `attempt` (0 is the first retry). `random` is uniform in [0, 1). */
export function backoffMs({ firstMs, capMs, jitter }: Backoff, attempt: number, random: number): number {
  const longestMs = Math.min(capMs, firstMs * 2 ** Math.min(attempt, 30))
  return Math.floor(longestMs * (1 - jitter + jitter * random))
}
