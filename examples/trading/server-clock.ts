// The gateway's time, for measuring the age of data without trusting the local clock. A local clock that is slow, stops
// or jumps back cannot make old data look fresh.

/** Readings of the local clocks in milliseconds: one that never jumps (`performance.now()`), and the time of day. */
export type Reading = { steady: number; wall: number }

/** Without a new measurement, the clocks may drift apart, so the time is unknown again. */
const MEASUREMENT_VALID_MS = 5 * 60_000

export class ServerClock {
  #measured: (Reading & { serverMs: number }) | null = null

  /** `sent`: the local clocks when the request was sent that returned `serverMs`. */
  measure(sent: Reading, serverMs: number): void {
    this.#measured = { ...sent, serverMs }
  }

  /**
   * The latest time that the gateway's clock can show now, or Infinity if it is unknown. The reply counts as written
   * when the request was sent, so the result is too late by at most the round trip. Of both local clocks, the faster
   * one counts: the steady one may stop while a machine sleeps.
   */
  now({ steady, wall }: Reading): number {
    if (!this.#measured) return Number.POSITIVE_INFINITY
    const elapsed = Math.max(steady - this.#measured.steady, wall - this.#measured.wall)
    return elapsed > MEASUREMENT_VALID_MS ? Number.POSITIVE_INFINITY : this.#measured.serverMs + elapsed
  }
}
