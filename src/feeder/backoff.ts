// How long to wait before dialling again: exponential with full jitter. The cap is low, because a feeder is alone
// or one of few, and the whole stream waits for it.

const FIRST_MS = 100
/** With the time of a dial itself this brings a feeder back within 1.5 s of the gateway's return. */
const CAP_MS = 1_300

/** Wait before attempt number `attempt` (0 is the first retry), ms; `random` is uniform in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(attempt, 16)))
}
