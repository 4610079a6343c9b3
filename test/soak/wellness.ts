// How long one client lacked its data, and after which fault. Times are Unix ms.

/** A fault is noticed by a client at the earliest so long before it is noted here. */
const EARLY_MS = 1_000

export interface Absence {
  /** Number of the last fault before it; -1 for none. */
  readonly fault: number
  readonly ms: number
}

export class Wellness {
  readonly #faults: readonly number[]
  #badSinceMs: number | null
  readonly absences: Absence[] = []

  /** `faults`: when each happened, appended to as they do. A client begins without anything at `nowMs`. */
  constructor(faults: readonly number[], nowMs: number) {
    this.#faults = faults
    this.#badSinceMs = nowMs
  }

  /** Since when it is without; null while it has what it wants. */
  get badSinceMs(): number | null {
    return this.#badSinceMs
  }

  /** Looks at the client: `badSinceMs` null where it is well. */
  see(badSinceMs: number | null, nowMs: number): void {
    if (badSinceMs !== null) this.#badSinceMs ??= badSinceMs
    else if (this.#badSinceMs !== null) {
      const since = this.#badSinceMs
      this.absences.push({ fault: this.#faults.findLastIndex((at) => at - EARLY_MS <= since), ms: nowMs - since })
      this.#badSinceMs = null
    }
  }
}
