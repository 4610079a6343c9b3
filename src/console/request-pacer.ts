// When a page may ask again, so that it keeps to the limit of its own key and leaves no refusals. Law: in any second, and from the
// start, no more than a second's worth begins (test/console/owner.test.ts).

export class RequestPacer {
  readonly #perSecond: number
  #nextFreeMs = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Takes a turn: how long to wait for it. */
  reserve(nowMs: number): number {
    const eachMs = 1000 / this.#perSecond
    const begin = Math.max(this.#nextFreeMs, nowMs)
    this.#nextFreeMs = begin + eachMs
    return Math.max(0, Math.ceil(begin - nowMs - eachMs * (this.#perSecond - 1)))
  }
}
