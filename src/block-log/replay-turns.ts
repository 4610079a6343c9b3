// Whose turn it is to be told blocks once more: so many characters a second, of which each relay that had to wait has a page
// before those that came later. Law: a relay that asks again when it is told to is served within a second for every thirty
// that waited before it, however much others want.

import { PAGE_CHARS } from './events-page.ts'
import { ReadBudget } from './held-fills.ts'

/** A place in the line is kept for so long beyond the time at which it was to ask again. */
const KEPT_MS = 1_000
/** More relays than there are; beyond them nobody has a place. */
const MOST_WAITING = 1_024

export class ReplayTurns {
  readonly #budget = new ReadBudget()
  /** Those who have to ask again, who waits longest first, and until when their places are kept. */
  readonly #line = new Map<string, number>()

  /** Milliseconds until this relay is to ask again, 0 if it may be read for now. */
  waitMs(relay: string, nowMs: number): number {
    for (const [one, untilMs] of this.#line) if (untilMs < nowMs) this.#line.delete(one)
    const places = [...this.#line.keys()]
    const before = places.includes(relay) ? places.indexOf(relay) : places.length
    const waitMs = this.#budget.waitMs(nowMs, before * PAGE_CHARS)
    if (waitMs === 0) this.#line.delete(relay)
    else if (before < MOST_WAITING) this.#line.set(relay, nowMs + waitMs + KEPT_MS)
    return waitMs
  }

  spend(chars: number, nowMs: number): void {
    this.#budget.spend(chars, nowMs)
  }
}
