// Reads a value at a bounded rate, however many callers ask. Invariant: reads start at least `intervalMs` apart, also
// after a failure, which is shared like a value.

export class PacedRead<T> {
  readonly #read: () => Promise<T>
  readonly #intervalMs: number
  readonly #maxMs: number
  #result: Promise<T> | null = null
  #startedMs = 0
  #isPending = false

  /** `maxMs`: a read that takes longer counts as lost, and the next caller starts another one. */
  constructor(read: () => Promise<T>, intervalMs: number, maxMs: number) {
    this.#read = read
    this.#intervalMs = intervalMs
    this.#maxMs = maxMs
  }

  /** The value of a read that is pending or started less than an interval ago, or else of a new one. */
  value(nowMs: number): Promise<T> {
    const ageMs = nowMs - this.#startedMs
    const isFresh = ageMs >= 0 && ageMs < (this.#isPending ? this.#maxMs : this.#intervalMs)
    return this.#result !== null && isFresh ? this.#result : this.#start(nowMs)
  }

  #start(nowMs: number): Promise<T> {
    const result = this.#read()
    const settled = () => {
      if (this.#result === result) this.#isPending = false
    }
    this.#result = result
    this.#startedMs = nowMs
    this.#isPending = true
    result.then(settled, settled)
    return result
  }
}
