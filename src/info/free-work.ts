// Bounds the work that nobody pays for: refused bodies and failed sources, per key and isolate, within a second.

/** Uncharged answers a second and key. */
const PER_SECOND = 20

export class FreeWork {
  #second = 0
  #counts = new Map<string, number>()

  /** Milliseconds that this key must wait, 0 if it may go on. */
  waitMs(keyHash: string, now: number): number {
    if (this.#counts.size === 0 || this.#turn(now) || (this.#counts.get(keyHash) ?? 0) < PER_SECOND) return 0
    return 1000 - (now % 1000)
  }

  /** Counts one uncharged answer. */
  add(keyHash: string, now: number): void {
    this.#turn(now)
    this.#counts.set(keyHash, (this.#counts.get(keyHash) ?? 0) + 1)
  }

  /** Begins another second with empty counts; true where that was due. */
  #turn(now: number): boolean {
    const second = Math.floor(now / 1000)
    if (second === this.#second) return false
    this.#second = second
    this.#counts.clear()
    return true
  }
}
