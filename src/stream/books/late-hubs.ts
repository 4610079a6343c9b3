// Wakes the fan-out of books when a late hub has been waited for long enough.

import type { After } from '../../core/deadline.ts'

interface Waiting {
  /** When `tick` may have something to give, null while nothing waits. */
  dueMs(): number | null
  tick(nowMs: number): void
}

export class LateHubs {
  readonly #books: Waiting
  readonly #clock: { readonly nowMs: number }
  readonly #after: After
  #isArmed = false

  constructor(books: Waiting, clock: { readonly nowMs: number }, after: After) {
    this.#books = books
    this.#clock = clock
    this.#after = after
  }

  arm(): void {
    const dueMs = this.#isArmed ? null : this.#books.dueMs()
    if (dueMs === null) return
    this.#isArmed = true
    this.#after(Math.max(0, dueMs - this.#clock.nowMs) + 1, () => {
      this.#isArmed = false
      this.#books.tick(this.#clock.nowMs)
      this.arm()
    })
  }
}
