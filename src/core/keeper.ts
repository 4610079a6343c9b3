// Looks after something once a second while there is need, in work that the platform keeps alive beyond the request that
// began it. It ends such work 30 s after the answer and tells nobody: so a keeper stands down in good time, and one
// that shows no sign of life is taken for ended.

export interface KeeperClock {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
}

export const KEEP_EVERY_MS = 1_000
export const KEEP_ROUNDS = 20
/** A round may wait for an exchange; one that waits longer than this is not missed. */
export const KEEPER_DEAD_MS = 3_000

export class Keeper {
  #beatMs = Number.NEGATIVE_INFINITY

  /** False: whoever needs one begins one. */
  isAlive(nowMs: number): boolean {
    return nowMs - this.#beatMs < KEEPER_DEAD_MS
  }

  /** Calls `round` every second until it answers that nothing is left to look after. */
  async run({ nowMs, sleep }: KeeperClock, round: (atMs: number) => Promise<boolean>): Promise<void> {
    this.#beatMs = nowMs()
    for (let rounds = 0; rounds < KEEP_ROUNDS; rounds++) {
      await sleep(KEEP_EVERY_MS)
      this.#beatMs = nowMs()
      if (!(await round(this.#beatMs))) break
    }
    this.#beatMs = Number.NEGATIVE_INFINITY
  }
}
