// Whether blocks come, for those who wait for them: each is told once where none has come for long, and once when they
// go on.

/** The exchange writes fourteen blocks a second; a feeder that begins anew is back within this. */
export const STILL_MS = 15_000

export class Stillness {
  /** When the last block came, or the first was begun to be waited for; null while nobody waits. */
  #cameMs: number | null = null
  #isStill = false

  /** A block came. True where those who wait had been told that none does. */
  came(nowMs: number): boolean {
    const wasStill = this.#isStill
    this.#cameMs = nowMs
    this.#isStill = false
    return wasStill
  }

  /** To be called every few seconds. For how long none has come, once where that is too long; else null. */
  look(nowMs: number, isAwaited: boolean): number | null {
    if (!isAwaited) this.#cameMs = null
    else this.#cameMs ??= nowMs
    if (this.#cameMs === null) this.#isStill = false
    if (this.#cameMs === null || this.#isStill || nowMs - this.#cameMs < STILL_MS) return null
    this.#isStill = true
    return nowMs - this.#cameMs
  }
}
