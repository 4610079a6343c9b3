// Token buckets over an injected clock: frames that a socket sends, and snapshot bytes that a relay sends.
// Law: over any time t at most `burst + t × perMs` tokens are given.

export class Bucket {
  readonly #burst: number
  readonly #perMs: number
  #tokens: number
  #at: number

  constructor(burst: number, perMs: number, nowMs: number) {
    this.#burst = burst
    this.#perMs = perMs
    this.#tokens = burst
    this.#at = nowMs
  }

  /** Takes `n` tokens if they are there. */
  take(n: number, nowMs: number): boolean {
    this.#refill(nowMs)
    if (this.#tokens < n) return false
    this.#tokens -= n
    return true
  }

  /** Takes `n` tokens on credit and answers how many ms the caller must wait before it goes on. */
  takeOnCredit(n: number, nowMs: number): number {
    this.#refill(nowMs)
    this.#tokens -= n
    return this.#tokens >= 0 ? 0 : Math.ceil(-this.#tokens / this.#perMs)
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, nowMs - this.#at) * this.#perMs)
    this.#at = nowMs
  }
}
