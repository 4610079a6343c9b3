// Memory that all tasks of an isolate share, because the platform limits the isolate, not the object. A task reserves its
// maximum before it starts, or tries again later. Invariant: valid reservations never exceed the budget. A reservation
// expires, because an object that is reset frees its memory without running any code.

interface Reservation {
  readonly bytes: number
  readonly endMs: number
}

export class MemoryBudget {
  readonly #maxBytes: number
  readonly #reservations = new Set<Reservation>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns a function that frees the memory, or null if too little is left. `maxMs`: longest duration of the task. */
  reserve(bytes: number, nowMs: number, maxMs: number): (() => void) | null {
    let sum = bytes
    for (const one of this.#reservations) {
      if (nowMs >= one.endMs) this.#reservations.delete(one)
      else sum += one.bytes
    }
    if (sum > this.#maxBytes) return null
    const own = { bytes, endMs: nowMs + maxMs }
    this.#reservations.add(own)
    return () => void this.#reservations.delete(own)
  }
}
