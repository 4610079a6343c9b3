// Spaces requests so that a page stays below the rate limit of its key. Invariant: any second has at most one burst of
// `perSecond` requests plus the steady rate (test/console/owner.test.ts).

export class RequestPacer {
  readonly #perSecond: number
  #nextFreeMs = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Reserves the next slot and returns how many milliseconds to wait for it. */
  reserve(nowMs: number): number {
    const eachMs = 1000 / this.#perSecond
    const startMs = Math.max(this.#nextFreeMs, nowMs)
    this.#nextFreeMs = startMs + eachMs
    return Math.max(0, Math.ceil(startMs - nowMs - eachMs * (this.#perSecond - 1)))
  }
}
