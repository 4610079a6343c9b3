// Single flight: who asks for what is already being fetched waits for the same result. Law: a flight that is older than
// its bound is no longer joined, because on Workers its leader may be gone without a trace.

import { BoundedMap } from './bounded-map.ts'
import { type After, orLate } from './deadline.ts'

/** One thing that is fetched at most once at a time. */
export class Flight<T> {
  readonly #maxMs: number
  #result: Promise<T> | null = null
  #sinceMs = 0

  /** Without a bound times need not be told. */
  constructor(maxMs = Number.POSITIVE_INFINITY) {
    this.#maxMs = maxMs
  }

  /** True until it has landed, however long that takes. */
  get isUp(): boolean {
    return this.#result !== null
  }

  /** When the last one began, as was told then. */
  get sinceMs(): number {
    return this.#sinceMs
  }

  /** The result of the flight under way, null where there is none to join. */
  underWay(nowMs = 0): Promise<T> | null {
    return nowMs - this.#sinceMs < this.#maxMs ? this.#result : null
  }

  /** Begins one in place of whatever there was. It is over before anybody hears of its result. */
  begin(start: () => Promise<T>, nowMs = 0): Promise<T> {
    const result = start()
    const over = () => {
      if (this.#result === result) this.#result = null
    }
    result.then(over, over)
    this.#result = result
    this.#sinceMs = nowMs
    return result
  }

  /** The flight under way, or else a new one. */
  join(start: () => Promise<T>, nowMs = 0): Promise<T> {
    return this.underWay(nowMs) ?? this.begin(start, nowMs)
  }
}

/** `leads`: `start` is, or will be, called for this caller and in its context. */
export interface Joined<T> {
  readonly result: Promise<T>
  readonly leads: boolean
}

/** Flights by key; what is no longer joined makes room for `most`. */
export class Flights<T> {
  readonly maxMs: number
  readonly #byKey: BoundedMap<string, Flight<T>>

  constructor(maxMs: number, most = 10_000) {
    this.maxMs = maxMs
    this.#byKey = new BoundedMap(most)
  }

  underWay(key: string, nowMs: number): Promise<T> | null {
    return this.#byKey.get(key)?.underWay(nowMs) ?? null
  }

  /** When the flight of this key began that has not landed. */
  sinceMs(key: string): number | undefined {
    return this.#byKey.get(key)?.sinceMs
  }

  begin(key: string, start: () => Promise<T>, nowMs: number): Promise<T> {
    const flight = new Flight<T>(this.maxMs)
    const result = flight.begin(start, nowMs)
    this.#byKey.set(key, flight)
    const over = () => {
      if (this.#byKey.get(key) === flight) this.#byKey.delete(key)
    }
    result.then(over, over)
    return result
  }

  join(key: string, start: () => Promise<T>, nowMs: number): Joined<T> {
    const result = this.underWay(key, nowMs)
    return result === null ? { result: this.begin(key, start, nowMs), leads: true } : { result, leads: false }
  }

  /** The result of a flight; `lost` where it is another caller's who vanished without a trace. */
  landed({ result, leads }: Joined<T>, lost: T, after: After): Promise<T> {
    return leads ? result : orLate(result, this.maxMs, lost, after)
  }

  /** Who comes from now on begins another. */
  forget(key: string): void {
    this.#byKey.delete(key)
  }
}
