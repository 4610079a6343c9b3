// The clock of an isolate on the platform: it stands still while code runs, and moves on when I/O completes.

export class FrozenClock {
  readonly #realMs: () => number
  #nowMs: number
  #sinceMs: number

  constructor(realMs: () => number) {
    this.#realMs = realMs
    this.#nowMs = this.#sinceMs = realMs()
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** An event began, or I/O completed. */
  advance(): void {
    this.#nowMs = this.#sinceMs = this.#realMs()
  }

  /** Real time since the clock last advanced or this was called: what the code in between took. */
  takeSpentMs(): number {
    const nowMs = this.#realMs()
    const spentMs = nowMs - this.#sinceMs
    this.#sinceMs = nowMs
    return spentMs
  }
}
