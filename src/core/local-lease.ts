// Local side of a lease: credits of an account, requests of a key, or weight of a source, granted ahead of use.

import { type After, orFallback } from './deadline.ts'
import { SingleFlight } from './single-flight.ts'

/**
 * Spending that is accounted for elsewhere. Invariant: sums are cumulative, so reports may be lost, repeated or late.
 */
export class ReportedSpending {
  spent: number
  /** Spending acknowledged by the other side. */
  reported: number

  constructor(spent = 0, reported = 0) {
    this.spent = spent
    this.reported = reported
  }

  get unreported(): number {
    return this.spent - this.reported
  }

  /** The other side has acknowledged this sum. */
  acknowledge(spent: number): void {
    this.reported = Math.max(this.reported, spent)
  }
}

/** One grant. Invariant: granted ≥ spent + reserved. */
export class LocalLease extends ReportedSpending {
  readonly id: string
  granted: number
  /** Reservations end at this time. */
  untilMs: number
  /** Reserved by work in flight. */
  reserved = 0

  constructor(id: string, granted = 0, untilMs = 0) {
    super()
    this.id = id
    this.granted = granted
    this.untilMs = untilMs
  }

  /** Amount that can still be reserved. */
  get free(): number {
    return this.granted - this.spent - this.reserved
  }

  /** Reserves `amount`. Returns false if less is free or the lease has expired. Even 0 needs a live lease. */
  reserve(amount: number, nowMs: number): boolean {
    if (nowMs >= this.untilMs || this.free < amount) return false
    this.reserved += amount
    return true
  }

  /** The work has finished and cost `spent` of its reservation; the rest is free again. */
  settle(held: number, spent = held): void {
    this.reserved -= held
    this.spent += spent
  }

  release(held: number): void {
    this.reserved -= held
  }

  /** The other side has granted this total. */
  grant(total: number, untilMs: number): void {
    this.granted = Math.max(this.granted, total)
    this.untilMs = Math.max(this.untilMs, untilMs)
  }

  /** Returns free weight to the other side. */
  giveBack(amount: number): void {
    this.granted -= amount
  }
}

/** Recent usage, for forecasts. */
export class UsageRate {
  readonly #minWindowMs: number
  #used = 0
  #startedMs = 0

  /** Shorter measurement windows count as `minWindowMs`. */
  constructor(minWindowMs = 100) {
    this.#minWindowMs = minWindowMs
  }

  /** A negative amount corrects earlier counts. */
  count(amount: number): void {
    this.#used = Math.max(0, this.#used + amount)
  }

  /** Expected usage in the next `ms`, at the rate since `reset`. 0 if the measurement is too old. */
  forecast(ms: number, nowMs: number, forgetMs = 2 * ms): number {
    const elapsedMs = Math.max(this.#minWindowMs, nowMs - this.#startedMs)
    return elapsedMs > forgetMs ? 0 : Math.ceil((this.#used * ms) / elapsedMs)
  }

  reset(nowMs: number): void {
    this.#used = 0
    this.#startedMs = nowMs
  }
}

/** After a failed exchange, calls get an immediate result for this time instead of waiting one after another. */
export const DOWN_MS = 250

/** Runs exchanges with the granting side one at a time, so that each response fits the state that requested it. */
export class SerialExchanges {
  readonly #flight: SingleFlight<void>
  readonly #maxMs: number
  readonly #after: After
  #downUntilMs = 0

  /** An exchange older than `maxMs` was ended together with its request. */
  constructor(maxMs: number, after: After) {
    this.#flight = new SingleFlight(maxMs)
    this.#maxMs = maxMs
    this.#after = after
  }

  /** True until the last exchange has settled, however old it is. */
  get isPending(): boolean {
    return this.#flight.isPending
  }

  isInFlight(nowMs: number): boolean {
    return this.#flight.current(nowMs) !== null
  }

  /** Waits for the exchange in flight, if any. */
  async wait(nowMs: number): Promise<void> {
    const flight = this.#flight.current(nowMs)
    if (flight !== null) await orFallback(flight, this.#maxMs, undefined, this.#after)
  }

  /** `run` must not reject. */
  start(run: () => Promise<void>, nowMs: number): Promise<void> {
    return this.#flight.start(run, nowMs)
  }

  markFailed(nowMs: number): void {
    this.#downUntilMs = nowMs + DOWN_MS
  }

  /** Remaining pause in ms after a failure; 0: an exchange may start. */
  downMs(nowMs: number): number {
    return Math.max(0, this.#downUntilMs - nowMs)
  }
}
