// Flights for answers that must not be older than the question: callers share only a flight that begins after all of
// them have come. Who comes while one is under way waits for it to land and shares the next; so however many come at
// once, two flights answer them. Results must not reject.

import { type After, orLate } from '../../core/deadline.ts'
import { Flights, type Joined } from '../../core/flights.ts'
import { FLIGHT_MAX_MS } from '../ports.ts'

export class NextFlights<T> {
  readonly #present = new Flights<T>(FLIGHT_MAX_MS)
  readonly #next = new Flights<T>(FLIGHT_MAX_MS)
  readonly #now: () => number
  readonly #after: After

  constructor(now: () => number, after: After) {
    this.#now = now
    this.#after = after
  }

  join(key: string, start: () => Promise<T>): Joined<T> {
    const now = this.#now()
    // Asked first: one that has landed may be gone some time before the request that leads the next one hears of it.
    const next = this.#next.underWay(key, now)
    if (next !== null) return { result: next, leads: false }
    const present = this.#present.underWay(key, now)
    if (present === null) return { result: this.#begin(key, start), leads: true }
    const begin = () => orLate(present, FLIGHT_MAX_MS, null, this.#after).then(() => this.#begin(key, start))
    // As old as the one it waits for: where that is no longer joined, neither is this.
    return { result: this.#next.begin(key, begin, this.#present.sinceMs(key) ?? now), leads: true }
  }

  #begin(key: string, start: () => Promise<T>): Promise<T> {
    this.#next.forget(key)
    return this.#present.begin(key, start, this.#now())
  }
}
