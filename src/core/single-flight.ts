// Single-flight: callers that need the same fetch share the one in progress. Invariant: no caller joins a flight that
// is older than the limit, because Workers may have killed its request silently.

import { BoundedMap } from './bounded-map.ts'
import { type After, orFallback } from './deadline.ts'

/** A task that runs at most once at a time. */
export class SingleFlight<T> {
  readonly #maxMs: number
  #result: Promise<T> | null = null
  #startedMs = 0

  /** `maxMs`: maximum age of a flight. Without this limit, callers may omit the time arguments. */
  constructor(maxMs = Number.POSITIVE_INFINITY) {
    this.#maxMs = maxMs
  }

  /** True until the task settles, however long it takes. */
  get isPending(): boolean {
    return this.#result !== null
  }

  /** Start time of the last flight. */
  get startedMs(): number {
    return this.#startedMs
  }

  /** The result of the current flight; null if there is no flight that can be joined. */
  current(nowMs = 0): Promise<T> | null {
    return nowMs - this.#startedMs < this.#maxMs ? this.#result : null
  }

  /** Starts a flight, which replaces any other flight. The flight ends before its result is delivered. */
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

  /** Returns the result of the current flight, or else of a new one. */
  join(start: () => Promise<T>, nowMs = 0): Promise<T> {
    return this.current(nowMs) ?? this.start(start, nowMs)
  }
}

/** `isLeader`: whether `start` runs for this caller and in its context. */
export interface JoinedFlight<T> {
  readonly result: Promise<T>
  readonly isLeader: boolean
}

/** Flights by key. There are at most `max` flights; the oldest are dropped. */
export class SingleFlights<T> {
  readonly maxMs: number
  readonly #byKey: BoundedMap<string, SingleFlight<T>>

  constructor(maxMs: number, max = 10_000) {
    this.maxMs = maxMs
    this.#byKey = new BoundedMap(max)
  }

  current(key: string, nowMs: number): Promise<T> | null {
    return this.#byKey.get(key)?.current(nowMs) ?? null
  }

  /** Start time of the current flight of this key. */
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

  /** The result of a flight, or `lost` if another caller started it and its request ended. */
  result({ result, isLeader }: JoinedFlight<T>, lost: T, after: After): Promise<T> {
    return isLeader ? result : orFallback(result, this.maxMs, lost, after)
  }

  /** Makes the next caller start a new flight. */
  forget(key: string): void {
    this.#byKey.delete(key)
  }
}
