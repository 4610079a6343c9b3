// The local side of a lease. A lease grants credits of an account, requests of a key, or weight of a source before they
// are used.

import { type After, orFallback } from './deadline.ts'
import { SingleFlight } from './single-flight.ts'

/**
 * Spending that is reported to another component. Invariant: sums are cumulative, so reports may be lost, repeated or
 * late.
 */
export class ReportedSpending {
  spent: number
  /** The sum that the other side has acknowledged. */
  reported: number

  constructor(spent = 0, reported = 0) {
    this.spent = spent
    this.reported = reported
  }

  get unreported(): number {
    return this.spent - this.reported
  }

  /** Records that the other side has acknowledged this sum. */
  acknowledge(spent: number): void {
    this.reported = Math.max(this.reported, spent)
  }
}

/** The lease of one grant. Invariant: granted ≥ spent + reserved. */
export class LocalLease extends ReportedSpending {
  readonly id: string
  granted: number
  /** Nothing can be reserved after this time. */
  untilMs: number
  /** The amount that is reserved by work in progress. */
  reserved = 0

  constructor(id: string, granted = 0, untilMs = 0) {
    super()
    this.id = id
    this.granted = granted
    this.untilMs = untilMs
  }

  /** The amount that can still be reserved. */
  get free(): number {
    return this.granted - this.spent - this.reserved
  }

  /**
   * Reserves `amount`. Returns false if less is free or the lease has expired. An expired lease rejects even an amount
   * of 0.
   */
  reserve(amount: number, nowMs: number): boolean {
    if (nowMs >= this.untilMs || this.free < amount) return false
    this.reserved += amount
    return true
  }

  /** Ends a reservation of `amount`. The finished work cost `spent`. The rest is free again. */
  settle(amount: number, spent = amount): void {
    this.reserved -= amount
    this.spent += spent
  }

  release(amount: number): void {
    this.reserved -= amount
  }

  /** Records that the other side has granted this total. */
  grant(total: number, untilMs: number): void {
    this.granted = Math.max(this.granted, total)
    this.untilMs = Math.max(this.untilMs, untilMs)
  }

  /** Returns a free amount to the other side. */
  giveBack(amount: number): void {
    this.granted -= amount
  }
}

/** Measures recent usage, for forecasts. */
export class UsageRate {
  readonly #minWindowMs: number
  #used = 0
  #startedMs = 0

  /** A measurement that is shorter than `minWindowMs` is treated as if it had taken that long. */
  constructor(minWindowMs = 100) {
    this.#minWindowMs = minWindowMs
  }

  /** Counts usage. A negative amount corrects earlier counts. */
  count(amount: number): void {
    this.#used = Math.max(0, this.#used + amount)
  }

  /** Expected usage in the next `ms`, at the rate since the last `reset`; 0 if that was too long ago. */
  forecast(ms: number, nowMs: number, forgetMs = 2 * ms): number {
    const elapsedMs = Math.max(this.#minWindowMs, nowMs - this.#startedMs)
    return elapsedMs > forgetMs ? 0 : Math.ceil((this.#used * ms) / elapsedMs)
  }

  reset(nowMs: number): void {
    this.#used = 0
    this.#startedMs = nowMs
  }
}

/**
 * After an exchange fails, calls fail immediately for this long. Otherwise they would wait for a failing exchange one
 * after another.
 */
export const DOWN_MS = 250

/** Runs exchanges with the granting side one at a time, so that a response always matches the state in its request. */
export class SerialExchanges {
  readonly #flight: SingleFlight<void>
  readonly #maxMs: number
  readonly #after: After
  #downUntilMs = 0

  /**
   * `maxMs`: maximum age of an exchange. The platform may end an exchange together with the request that started it, so
   * an older exchange counts as dead.
   */
  constructor(maxMs: number, after: After) {
    this.#flight = new SingleFlight(maxMs)
    this.#maxMs = maxMs
    this.#after = after
  }

  /** True until the last exchange has settled, whatever its age. */
  get isPending(): boolean {
    return this.#flight.isPending
  }

  isInFlight(nowMs: number): boolean {
    return this.#flight.current(nowMs) !== null
  }

  /** Waits for the exchange in progress, if there is one. */
  async wait(nowMs: number): Promise<void> {
    const flight = this.#flight.current(nowMs)
    if (flight !== null) await orFallback(flight, this.#maxMs, undefined, this.#after)
  }

  /** Starts an exchange. `run` must not reject. */
  start(run: () => Promise<void>, nowMs: number): Promise<void> {
    return this.#flight.start(run, nowMs)
  }

  markFailed(nowMs: number): void {
    this.#downUntilMs = nowMs + DOWN_MS
  }

  /** Remaining ms of the pause after a failure. If 0, an exchange may start. */
  downMs(nowMs: number): number {
    return Math.max(0, this.#downUntilMs - nowMs)
  }
}
