// Looks after something once a second while there is need, in work that the platform keeps alive beyond the request that
// began it. It ends such work 30 s after the answer and tells nobody: so a keeper stands down in good time, and one
// that shows no sign of life is taken for ended. Law: who needs one at a moment has one for another `KEPT_MS` at least.

export interface HeartbeatClock {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
}

export const HEARTBEAT_MS = 1_000
export const HEARTBEAT_ROUNDS = 20
/** After so many rounds whoever needs a keeper begins the next, which takes over. */
const HAND_OVER_ROUNDS = 4
export const HEARTBEAT_COVERAGE_MS = (HEARTBEAT_ROUNDS - HAND_OVER_ROUNDS) * HEARTBEAT_MS
/** A round may wait for an exchange; one that waits longer than this is not missed. */
export const HEARTBEAT_DEAD_MS = 3_000

export class Heartbeat {
  #beatMs = Number.NEGATIVE_INFINITY
  #rounds = 0
  #generation = 0

  /** False: whoever needs one begins one. */
  isAlive(nowMs: number): boolean {
    return this.#rounds < HAND_OVER_ROUNDS && nowMs - this.#beatMs < HEARTBEAT_DEAD_MS
  }

  /** Calls `round` every second until it answers that nothing is left to look after, or the next keeper has begun. */
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
