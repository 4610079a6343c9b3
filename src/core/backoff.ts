// How long to wait before trying again: doubling up to a bound, of which chance takes a part, so that many who lost the
// same thing at the same time do not come back for it at the same time. Chance is an argument.

export interface Backoff {
  readonly firstMs: number
  readonly capMs: number
  /** The part that is left to chance: 1 is full jitter, 0.5 waits at least half. */
  readonly jitter: number
}

/** Wait before retry number `attempt` (0 is the first), ms; `random` is uniform in [0, 1). */
export function backoffMs({ firstMs, capMs, jitter }: Backoff, attempt: number, random: number): number {
  const longestMs = Math.min(capMs, firstMs * 2 ** Math.min(attempt, 30))
  return Math.floor(longestMs * (1 - jitter + jitter * random))
}
