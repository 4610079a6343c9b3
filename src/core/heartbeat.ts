// Runs a task every second inside `waitUntil`. The platform silently ends such work 30 s after the response, so a loop
// hands over to a new loop before that. A loop that misses its beats counts as ended. Invariant: a loop that is alive
// keeps running for at least HEARTBEAT_COVERAGE_MS.

export interface HeartbeatClock {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
}

export const HEARTBEAT_MS = 1_000
export const HEARTBEAT_ROUNDS = 20
/** After this many rounds, the next caller starts a new loop that replaces the current one. */
const HAND_OVER_ROUNDS = 4
export const HEARTBEAT_COVERAGE_MS = (HEARTBEAT_ROUNDS - HAND_OVER_ROUNDS) * HEARTBEAT_MS
/** A heartbeat may be late by up to this time, because a round may wait for a network request. */
export const HEARTBEAT_DEAD_MS = 3_000

export class Heartbeat {
  #beatMs = Number.NEGATIVE_INFINITY
  #rounds = 0
  #generation = 0

  /** If false, the caller must start a new loop. */
  isAlive(nowMs: number): boolean {
    return this.#rounds < HAND_OVER_ROUNDS && nowMs - this.#beatMs < HEARTBEAT_DEAD_MS
  }

  /** Calls `round` every second until it returns false or a newer loop has started. */
  async run({ nowMs, sleep }: HeartbeatClock, round: (atMs: number) => Promise<boolean>): Promise<void> {
    const turn = ++this.#generation
    this.#beatMs = nowMs()
    this.#rounds = 0
    for (let rounds = 1; rounds <= HEARTBEAT_ROUNDS; rounds++) {
      await sleep(HEARTBEAT_MS)
      if (turn !== this.#generation) return
      this.#beatMs = nowMs()
      this.#rounds = rounds
      if (!(await round(this.#beatMs))) break
    }
    if (turn === this.#generation) this.#beatMs = Number.NEGATIVE_INFINITY
  }
}
