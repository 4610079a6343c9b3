// The isolate's side of the credit leases of one account and key: local spending and unreported sums. Invariants: the
// granted amount covers what is spent and reserved; a refusal comes from the meter and is at most one second old;
// nothing is spent from a closed lease. Callers pass the time and the lease ids.

import { MICRO_PER_CREDIT, type MicroCredits } from '../core/amount.ts'
import { HEARTBEAT_COVERAGE_MS, HEARTBEAT_MS } from '../core/heartbeat.ts'
import type { KeyHash } from '../core/ids.ts'
import { LocalLease, UsageRate } from '../core/local-lease.ts'
import type { LeaseRequest, LeaseResponse } from './lease-api.ts'
import { wholeCalls } from './ledger.ts'
import { METER_API_VERSION } from './meter-version.ts'
import type { UsageLine } from './usage.ts'

/**
 * A lease in its isolate. Calls in flight keep a reference to it, so each settles on the lease that it reserved from.
 */
export class IsolateLease extends LocalLease {
  /** Send time of the last exchange that reported all spending. */
  reportedMs = 0
  /** The meter has ended the lease; only unreported spending remains. */
  ended = false
  readonly usage = new Map<string, UsageLine>()
}

type CreditDecision =
  | { readonly do: 'go'; readonly lease: IsolateLease }
  | { readonly do: 'ask' }
  /** `cap`: the key's cap, if the cap is the reason. */
  | {
      readonly do: 'refuse'
      readonly remaining: MicroCredits
      readonly cap: MicroCredits | undefined
      /** Wait in ms, if the visitor budget is the reason. */
      readonly busyMs: number | undefined
    }
  | { readonly do: 'revoked' }

interface Denial {
  readonly fromMicro: MicroCredits
  readonly cap: MicroCredits | undefined
  readonly busyMs: number | undefined
  readonly untilMs: number
}

const DENIAL_MS = 1_000
/**
 * A grant should last this long. If ample credits remain, it should last longer than the time to the next report,
 * because that report also tops up the grant.
 */
const FORECAST_MS = 5_000
const FORECAST_AMPLE_MS = 25_000
/**
 * A report is due when the lease has not reported for this long, or when the unreported spending is large, either in
 * absolute terms or relative to the balance. An isolate that is shut down loses at most that spending, plus about one
 * second of it. The time is less than a lease's, and revocations arrive with reports.
 */
export const REPORT_EVERY_MS = 20_000
export const REPORT_AT: MicroCredits = 10 * MICRO_PER_CREDIT
/** The same of calls and minutes, whose reports cost more in relation to their price than those of pipelines. */
export const UNREPORTED_MAX: MicroCredits = 50 * MICRO_PER_CREDIT
const CALL_REPORTS = { at: UNREPORTED_MAX, everyMs: REPORT_EVERY_MS }
const PIPELINE_REPORTS = { at: REPORT_AT, everyMs: 10_000 }
/** How long an isolate remembers a revoked key. It is longer than the lifetime of any cached key record. */
const REVOKED_MS = 60_000
const RETIRED_MAX = 64
/**
 * Maximum number of usage lines in a lease. Each line takes 200 bytes in every report. A lease with more lines is
 * closed, and a new one is opened.
 */
export const LINES_MAX = 64
const IDLE_MS = 1_000
/** The lease must be closed while the heartbeat still runs. Otherwise, the meter would have to reclaim it. */
const IDLE_AMPLE_MS = HEARTBEAT_COVERAGE_MS - HEARTBEAT_MS
/** An amount is negligible if the account has this many times as much left. */
export const AMPLE = 64

/**
 * Decides whether spending must be reported. `sinceMs` is negative if the clock was set back. `left` is the remaining
 * balance.
 */
export function isReportDue(
  unreported: MicroCredits,
  sinceMs: number,
  left: MicroCredits,
  { at, everyMs } = PIPELINE_REPORTS,
): boolean {
  return unreported >= Math.min(at, left / AMPLE) || Math.abs(sinceMs) >= everyMs
}

export class CreditLease {
  readonly keyHash: KeyHash
  /** Common hourly limit of all visitors who have no key. */
  readonly #visitorsPerHour: MicroCredits | undefined
  #current: IsolateLease | null = null
  /**
   * Leases from which nothing more is spent. They are about to be closed, or the meter ended them while calls were in
   * flight.
   */
  #retired: IsolateLease[] = []
  /** The last denial. Until it expires, amounts of `fromMicro` and above are refused. */
  #denial: Denial | null = null
  #revokedUntilMs = 0
  /** Balance outside all leases, and the total that the key can spend, both from the last response. */
  #outside: MicroCredits = 0
  #left: MicroCredits = 0
  #lastUseMs = 0
  /** Price of the last call that was not free. */
  #price: MicroCredits = 0
  readonly #usage = new UsageRate()

  constructor(keyHash: KeyHash, visitorsPerHour?: MicroCredits) {
    this.keyHash = keyHash
    this.#visitorsPerHour = visitorsPerHour
  }

  /**
   * Reserves `amount`, or returns what to do instead. Even an amount of 0 needs a live lease, which proves that the key
   * is valid.
   */
  take(amount: MicroCredits, nowMs: number): CreditDecision {
    if (nowMs < this.#revokedUntilMs) return { do: 'revoked' }
    const lease = this.#current
    if (lease?.reserve(amount, nowMs)) {
      this.#lastUseMs = nowMs
      this.#price = amount || this.#price
      this.#usage.count(amount)
      return { do: 'go', lease }
    }
    const denial = this.#denial
    if (denial !== null && nowMs < denial.untilMs && amount >= denial.fromMicro) {
      const remaining = this.#outside + (lease?.free ?? 0)
      return { do: 'refuse', remaining, cap: denial.cap, busyMs: denial.busyMs }
    }
    return { do: 'ask' }
  }

  /** The call succeeded: its reservation is spent and counted by product and type. */
  settle(lease: IsolateLease, amount: MicroCredits, product: string, type: string): void {
    lease.settle(amount)
    const name = `${product} ${type}`
    const line = lease.usage.get(name)
    lease.usage.set(name, { product, type, calls: (line?.calls ?? 0) + 1, amount: (line?.amount ?? 0) + amount })
  }

  /** The call failed: its reservation is free again, so a cached denial no longer applies. */
  release(lease: IsolateLease, amount: MicroCredits): void {
    lease.release(amount)
    if (lease === this.#current && amount > 0) this.#denial = null
  }

  /** Request that lets a call of `amount` proceed. `waiting` is the sum of all waiting calls. */
  request(amount: MicroCredits, waiting: MicroCredits, nowMs: number, newId: () => string): LeaseExchange {
    this.#current ??= new IsolateLease(newId())
    const lease = this.#current
    this.#lastUseMs = nowMs
    const missing = Math.max(0, amount - lease.free)
    // An exchange for tokens alone also reports spending that would be due soon.
    if (missing === 0 && !this.#isDue(lease, nowMs + REPORT_EVERY_MS / 2)) {
      return { lease, amount, sentAtMs: nowMs, request: this.#noopRequest(lease) }
    }
    const forecast = missing === 0 ? this.#topUp(lease, nowMs) : this.#forecast(nowMs).forecast
    const more = { need: missing, waiting: Math.max(missing, waiting - lease.free), forecast }
    return { lease, amount, sentAtMs: nowMs, request: this.#requestFor(lease, more, false) }
  }

  /**
   * Applies the meter's response. Reordered and repeated responses are harmless, because all numbers are cumulative.
   */
  applyResponse(exchange: LeaseExchange, answer: LeaseResponse): void {
    const { lease, request, sentAtMs } = exchange
    if (request.spent === lease.spent || request.spent > lease.reported) lease.reportedMs = sentAtMs
    lease.acknowledge(request.spent)
    if (request.close) lease.ended = true
    if (answer.ok) lease.grant(answer.granted, sentAtMs + answer.ttlMs)
    this.#outside = answer.remaining
    this.#left = answer.left
    if (answer.ok) {
      if (request.need > 0) this.#denial = null
      return
    }
    if (answer.reason === 'exhausted') {
      const { cap, busyMs } = answer
      this.#denial = { fromMicro: exchange.amount, cap, busyMs, untilMs: sentAtMs + DENIAL_MS }
      return
    }
    if (answer.reason === 'revoked') this.#revokedUntilMs = sentAtMs + REVOKED_MS
    if (answer.reason === 'gone') lease.ended = true
    this.#retire(lease)
  }

  /**
   * Exchanges that are due: reports of old or large spending (with `all`, of any unreported spending), and closes of
   * leases that are idle or have too many usage lines.
   */
  due(nowMs: number, all = false): LeaseExchange[] {
    const lease = this.#current
    const isIdle = lease !== null && lease.reserved === 0 && nowMs - this.#lastUseMs >= this.#idleMs(lease)
    if (lease !== null && (isIdle || lease.usage.size > LINES_MAX)) this.#retire(lease)
    this.#retired = this.#retired.filter((each) => !each.ended || each.reserved > 0 || each.unreported > 0)
    const exchanges = this.#retired
      .filter((each) => each.reserved === 0 || each.unreported > 0)
      .map((each) => this.#reportFor(each, each.reserved === 0, 0, nowMs))
    const current = this.#current
    if (current === null || current.unreported === 0) return exchanges
    if (all || this.#isDue(current, nowMs))
      exchanges.push(this.#reportFor(current, false, this.#topUp(current, nowMs), nowMs))
    return exchanges
  }

  /** True while spending is unreported or credits are leased. */
  get isBusy(): boolean {
    return this.#current !== null || this.#retired.length > 0
  }

  /** Credits the key may still spend, as of the last response. Credits leased to other isolates count too. */
  remaining(): MicroCredits {
    let left = this.#left
    for (const lease of this.#retired) left -= lease.unreported + lease.reserved
    if (this.#current !== null) left -= this.#current.unreported + this.#current.reserved
    return Math.max(0, left)
  }

  /**
   * Idle credits return to others quickly. If ample credits remain, they stay longer, so that a slow caller
   * does not need an exchange each time.
   */
  #idleMs(lease: IsolateLease): number {
    return lease.free * AMPLE <= this.#outside ? IDLE_AMPLE_MS : IDLE_MS
  }

  #isDue({ unreported, reportedMs }: IsolateLease, nowMs: number): boolean {
    return isReportDue(unreported, nowMs - reportedMs, this.#outside, CALL_REPORTS)
  }

  #retire(lease: IsolateLease): void {
    if (lease !== this.#current) return
    this.#current = null
    this.#retired.push(lease)
    if (this.#retired.length > RETIRED_MAX) this.#retired.shift()
  }

  #reportFor(lease: IsolateLease, close: boolean, forecast: MicroCredits, nowMs: number): LeaseExchange {
    const more = { need: 0, waiting: 0, forecast }
    return { lease, amount: 0, sentAtMs: nowMs, request: this.#requestFor(lease, more, close) }
  }

  /** Top-up requested if nothing is missing, so that calls need not wait. 0 if credits are scarce. */
  #topUp(lease: IsolateLease, nowMs: number): MicroCredits {
    const { forecast, isAmple } = this.#forecast(nowMs)
    return isAmple ? Math.max(0, forecast - lease.free) : 0
  }

  /** Expected spending at the rate since the last forecast, as whole calls. */
  #forecast(nowMs: number): { readonly forecast: MicroCredits; readonly isAmple: boolean } {
    const long = this.#usage.forecast(FORECAST_AMPLE_MS, nowMs)
    const short = this.#usage.forecast(FORECAST_MS, nowMs)
    this.#usage.reset(nowMs)
    const isAmple = long * AMPLE <= this.#outside
    return { forecast: wholeCalls(isAmple ? long : short, this.#price), isAmple }
  }

  /** A request that reports nothing new, so the meter writes nothing. */
  #noopRequest({ id, reported: spent }: IsolateLease): LeaseRequest {
    const { keyHash } = this
    return {
      ...this.#visitorFields,
      v: METER_API_VERSION,
      lease: id,
      keyHash,
      spent,
      usage: [],
      need: 0,
      waiting: 0,
      forecast: 0,
      close: false,
    }
  }

  #requestFor(
    lease: IsolateLease,
    more: Pick<LeaseRequest, 'need' | 'waiting' | 'forecast'>,
    close: boolean,
  ): LeaseRequest {
    const { id, spent, usage } = lease
    const base = { v: METER_API_VERSION, lease: id, keyHash: this.keyHash, spent, usage: [...usage.values()] }
    return { ...base, ...more, close, ...this.#visitorFields }
  }

  get #visitorFields(): Pick<LeaseRequest, 'visitorsPerHour'> {
    return this.#visitorsPerHour === undefined ? {} : { visitorsPerHour: this.#visitorsPerHour }
  }
}

/** A request in flight, with the state needed to apply its response. */
export interface LeaseExchange {
  readonly lease: IsolateLease
  readonly amount: MicroCredits
  readonly sentAtMs: number
  readonly request: LeaseRequest
}
