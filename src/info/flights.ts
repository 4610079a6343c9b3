// One flight per key: who asks for what is already being fetched waits for the same result.
// A flight that outlives its bound is no longer joined: its leader may be gone without a trace.

/** Longer than the attempts of one query can take together. */
export const FLIGHT_MAX_MS = 12_000

interface Flight<T> {
  readonly at: number
  readonly result: Promise<T>
}

export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()

  /** `leads`: `start` was called for this caller. The result must not reject. */
  join(key: string, now: number, start: () => Promise<T>): { readonly result: Promise<T>; readonly leads: boolean } {
    const known = this.#flights.get(key)
    if (known && now - known.at < FLIGHT_MAX_MS) return { result: known.result, leads: false }
    const flight: Flight<T> = { at: now, result: start() }
    this.#flights.set(key, flight)
    flight.result.then(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    return { result: flight.result, leads: true }
  }
}
