// Single flight: who asks for what is already being fetched waits for the same result. Law: a flight that is older than
// its bound is no longer joined, because on Workers its leader may be gone without a trace.

import { BoundedMap } from './bounded-map.ts'
import { type After, orFallback } from './deadline.ts'

/** One thing that is fetched at most once at a time. */
export class SingleFlight<T> {
  readonly #maxMs: number
  #result: Promise<T> | null = null
  #startedMs = 0

  /** Without a bound times need not be told. */
  constructor(maxMs = Number.POSITIVE_INFINITY) {
    this.#maxMs = maxMs
  }

  /** True until it has landed, however long that takes. */
  get isPending(): boolean {
    return this.#result !== null
  }

  /** When the last one began, as was told then. */
  get startedMs(): number {
    return this.#startedMs
  }

  /** The result of the flight under way, null where there is none to join. */
  current(nowMs = 0): Promise<T> | null {
    return nowMs - this.#startedMs < this.#maxMs ? this.#result : null
  }

  /** Begins one in place of whatever there was. It is over before anybody hears of its result. */
  start(start: () => Promise<T>, nowMs = 0): Promise<T> {
    const result = start()
    const over = () => {
      if (this.#result === result) this.#result = null
    }
    result.then(over, over)
    this.#result = result
    this.#startedMs = nowMs
    return result
  }

  /** The flight under way, or else a new one. */
  join(start: () => Promise<T>, nowMs = 0): Promise<T> {
    return this.current(nowMs) ?? this.start(start, nowMs)
  }
}

/** `leads`: `start` is, or will be, called for this caller and in its context. */
export interface JoinedFlight<T> {
  readonly result: Promise<T>
  readonly isLeader: boolean
}

/** Flights by key; what is no longer joined makes room for `most`. */
export class SingleFlights<T> {
  readonly maxMs: number
  readonly #byKey: BoundedMap<string, SingleFlight<T>>

  constructor(maxMs: number, most = 10_000) {
    this.maxMs = maxMs
    this.#byKey = new BoundedMap(most)
  }

  current(key: string, nowMs: number): Promise<T> | null {
    return this.#byKey.get(key)?.current(nowMs) ?? null
  }

  /** When the flight of this key began that has not landed. */
  startedMs(key: string): number | undefined {
    return this.#byKey.get(key)?.startedMs
  }

  start(key: string, start: () => Promise<T>, nowMs: number): Promise<T> {
    const flight = new SingleFlight<T>(this.maxMs)
    const result = flight.start(start, nowMs)
    this.#byKey.set(key, flight)
    const over = () => {
      if (this.#byKey.get(key) === flight) this.#byKey.delete(key)
    }
    result.then(over, over)
    return result
  }

  join(key: string, start: () => Promise<T>, nowMs: number): JoinedFlight<T> {
    const result = this.current(key, nowMs)
    return result === null ? { result: this.start(key, start, nowMs), isLeader: true } : { result, isLeader: false }
  }

  /** The result of a flight; `lost` where it is another caller's who vanished without a trace. */
  result({ result, isLeader }: JoinedFlight<T>, lost: T, after: After): Promise<T> {
    return isLeader ? result : orFallback(result, this.maxMs, lost, after)
  }

  /** Who comes from now on begins another. */
  forget(key: string): void {
    this.#byKey.delete(key)
  }
}
