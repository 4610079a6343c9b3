// One flight per key: who asks for what is already being fetched waits for the same result, and for nothing more where
// it fails. A flight that outlives its bound is no longer joined: its leader may be gone without a trace.

/** Longer than the attempts of one query can take together. */
export const FLIGHT_MAX_MS = 12_000

type Sleep = (ms: number) => Promise<void>

interface Flight<T> {
  readonly at: number
  readonly result: Promise<T>
}

/** `leads`: `start` is, or will be, called for this caller and in its context. */
export interface Joined<T> {
  readonly result: Promise<T>
  readonly leads: boolean
}

/** The result of a flight; `lost` where it is another caller's who vanished without a trace. */
export async function landed<T>({ result, leads }: Joined<T>, sleep: Sleep, lost: T): Promise<T> {
  return leads ? result : Promise.race([result, sleep(FLIGHT_MAX_MS).then(() => lost)])
}

/** Callers share the flight under way. Results must not reject. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()

  /** True while a caller who joined would not lead. */
  isUnderWay(key: string, now: number): boolean {
    const known = this.#flights.get(key)
    return known !== undefined && isJoinable(known, now)
  }

  join(key: string, now: number, start: () => Promise<T>): Joined<T> {
    const known = this.#flights.get(key)
    if (known && isJoinable(known, now)) return { result: known.result, leads: false }
    const flight: Flight<T> = { at: now, result: start() }
    this.#flights.set(key, flight)
    flight.result.then(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    return { result: flight.result, leads: true }
  }
}

function isJoinable({ at }: Flight<unknown>, now: number): boolean {
  return now - at < FLIGHT_MAX_MS
}

/** A flight under way, and the one that begins when it has landed. */
interface Line<T> {
  present: Flight<T>
  next: Promise<T> | null
}

/**
 * Callers share only a flight that begins after all of them have come: who comes while one is under way waits for it to
 * land and shares the next. So however many come at once, two flights answer them. Results must not reject.
 */
export class NextFlights<T> {
  readonly #lines = new Map<string, Line<T>>()
  readonly #now: () => number
  readonly #sleep: Sleep

  constructor(now: () => number, sleep: Sleep) {
    this.#now = now
    this.#sleep = sleep
  }

  join(key: string, start: () => Promise<T>): Joined<T> {
    const line = this.#lines.get(key)
    if (!line || this.#now() - line.present.at >= FLIGHT_MAX_MS) return { result: this.#begin(key, start), leads: true }
    if (line.next) return { result: line.next, leads: false }
    line.next = this.#after(key, line, start)
    return { result: line.next, leads: true }
  }

  async #after(key: string, line: Line<T>, start: () => Promise<T>): Promise<T> {
    await Promise.race([line.present.result, this.#sleep(FLIGHT_MAX_MS)])
    return this.#begin(key, start)
  }

  #begin(key: string, start: () => Promise<T>): Promise<T> {
    const line: Line<T> = { present: { at: this.#now(), result: start() }, next: null }
    this.#lines.set(key, line)
    line.present.result.then(() => {
      if (this.#lines.get(key) === line && !line.next) this.#lines.delete(key)
    })
    return line.present.result
  }
}
