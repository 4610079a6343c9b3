// Whether the other side of a connection still answers. Law: time in which we stood still ourselves proves nothing, since
// what came meanwhile is yet to be read.

/** Milliseconds of one monotonic clock. */
export class Answering {
  readonly #lookEveryMs: number
  readonly #patienceMs: number
  #lookedMs: number
  #heardMs: number

  constructor({ lookEveryMs, patienceMs }: { lookEveryMs: number; patienceMs: number }, nowMs: number) {
    this.#lookEveryMs = lookEveryMs
    this.#patienceMs = patienceMs
    this.#lookedMs = nowMs
    this.#heardMs = nowMs
  }

  heard(nowMs: number): void {
    this.#heardMs = nowMs
  }

  /** To be called every `lookEveryMs`. */
  look(nowMs: number): boolean {
    const lateMs = Math.max(0, nowMs - this.#lookedMs - this.#lookEveryMs)
    this.#lookedMs = nowMs
    this.#heardMs += lateMs
    return nowMs - this.#heardMs <= this.#patienceMs
  }
}
