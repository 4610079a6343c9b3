// The local side of whatever is granted ahead of use: credits of an account, requests of a key, weight of a source.

import { type After, orFallback } from './deadline.ts'
import { SingleFlight } from './single-flight.ts'

/** Spending that is accounted for elsewhere. Invariant: sums are cumulative, so a report may be lost, repeated or late. */
export class ReportedSpending {
  spent: number
  /** What the other side has heard of being spent. */
  reported: number

  constructor(spent = 0, reported = 0) {
    this.spent = spent
    this.reported = reported
  }

  get unreported(): number {
    return this.spent - this.reported
  }

  /** The other side has heard that so much was spent. */
  acknowledge(spent: number): void {
    this.reported = Math.max(this.reported, spent)
  }
}

/** One grant. Invariant: what was granted covers what is spent and held. */
export class LocalLease extends ReportedSpending {
  readonly id: string
  granted: number
  /** Nothing is held of it from then on. */
  untilMs: number
  /** Reserved by work in flight. */
  reserved = 0

  constructor(id: string, granted = 0, untilMs = 0) {
    super()
    this.id = id
    this.granted = granted
    this.untilMs = untilMs
  }

  /** What may still be held. */
  get free(): number {
    return this.granted - this.spent - this.reserved
  }

  /** Reserves `amount`; false where less is free, or the lease has ended. 0 needs a living lease, too. */
  reserve(amount: number, nowMs: number): boolean {
    if (nowMs >= this.untilMs || this.free < amount) return false
    this.reserved += amount
    return true
  }

  /** The work is done and cost `spent` of what it held; the rest is free again. */
  settle(held: number, spent = held): void {
    this.reserved -= held
    this.spent += spent
  }

  release(held: number): void {
    this.reserved -= held
  }

  /** The other side has granted so much in all. */
  grant(total: number, untilMs: number): void {
    this.granted = Math.max(this.granted, total)
    this.untilMs = Math.max(this.untilMs, untilMs)
  }

  /** Gives back what is free: it cannot be held again. */
  giveBack(amount: number): void {
    this.granted -= amount
  }
}

/** How much is used, for asking ahead. */
export class UsageRate {
  readonly #minWindowMs: number
  #used = 0
  #startedMs = 0

  /** Use of a shorter time than `leastMs` is taken for that of so long. */
  constructor(minWindowMs = 100) {
    this.#minWindowMs = minWindowMs
  }

  /** Negative: less was used than was counted before. */
  count(amount: number): void {
    this.#used = Math.max(0, this.#used + amount)
  }

  /** What the next `ms` will take at the rate since `begin`; 0 where that is too long ago to say anything. */
  forecast(ms: number, nowMs: number, forgetMs = 2 * ms): number {
    const elapsedMs = Math.max(this.#minWindowMs, nowMs - this.#startedMs)
    return elapsedMs > forgetMs ? 0 : Math.ceil((this.#used * ms) / elapsedMs)
  }

  reset(nowMs: number): void {
    this.#used = 0
    this.#startedMs = nowMs
  }
}

/** After a failed exchange calls are answered at once for so long, instead of each waiting in turn. */
export const DOWN_MS = 250

/** Exchanges with the side that grants, one at a time, so that an answer never meets a state it does not know. */
export class SerialExchanges {
  readonly #flight: SingleFlight<void>
  readonly #maxMs: number
  readonly #after: After
  #downUntilMs = 0

  /** An exchange older than `maxMs` was ended with its request. */
  constructor(maxMs: number, after: After) {
    this.#flight = new SingleFlight(maxMs)
    this.#maxMs = maxMs
    this.#after = after
  }

  /** True until the last one has landed, however old it is. */
  get isPending(): boolean {
    return this.#flight.isPending
  }

  isInFlight(nowMs: number): boolean {
    return this.#flight.current(nowMs) !== null
  }

  /** Waits for the exchange under way, if there is one. */
  async wait(nowMs: number): Promise<void> {
    const flight = this.#flight.current(nowMs)
    if (flight !== null) await orFallback(flight, this.#maxMs, undefined, this.#after)
  }

  /** `run` never rejects. */
  start(run: () => Promise<void>, nowMs: number): Promise<void> {
    return this.#flight.start(run, nowMs)
  }

  markFailed(nowMs: number): void {
    this.#downUntilMs = nowMs + DOWN_MS
  }

  /** Milliseconds for which nobody asks; 0: the other side may be asked. */
  downMs(nowMs: number): number {
    return Math.max(0, this.#downUntilMs - nowMs)
  }
}
