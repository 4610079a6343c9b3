// The isolate's side of the credit leases of one (account, key): what may be spent here without asking, what must be
// reported. Invariants: what is granted covers what is spent and in flight; a refusal is only ever the meter's own, at most one
// second old; a lease that was closed is never spent from. Time and lease ids are arguments.

import { MICRO_PER_CREDIT, type MicroCredits } from '../core/amount.ts'
import { HEARTBEAT_COVERAGE_MS, HEARTBEAT_MS } from '../core/heartbeat.ts'
import type { KeyHash } from '../core/ids.ts'
import { LocalLease, UsageRate } from '../core/local-lease.ts'
import type { LeaseRequest, LeaseResponse } from './lease-api.ts'
import { METER_API_VERSION } from './meter-version.ts'
import type { UsageLine } from './usage.ts'

/** A lease as its isolate sees it. Calls in flight point to it, so that they settle on the lease that they held. */
export class IsolateLease extends LocalLease {
  /** When the exchange was sent that told of spending last, or that there was none. */
  reportedMs = 0
  /** The meter has ended it: only unreported spending is owed. */
  ended = false
  readonly usage = new Map<string, UsageLine>()
}

type CreditDecision =
  | { readonly do: 'go'; readonly lease: IsolateLease }
  | { readonly do: 'ask' }
  /** `cap`: the key's, where that is what leaves too little. */
  | {
      readonly do: 'refuse'
      readonly remaining: MicroCredits
      readonly cap: MicroCredits | undefined
      /** It is the visitors' budget that leaves too little, until then. */
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
/** How long a grant should last, and where ample is left: longer than until the next report, which takes one along. */
const FORECAST_MS = 5_000
const FORECAST_AMPLE_MS = 15_000
/**
 * Spending is reported at the next look when its lease has told nothing for so long, or when there is so much of it, or
 * more than a small part of what is left: an isolate that dies loses no more than that and what was spent in the second or
 * so between two looks.
 */
export const REPORT_EVERY_MS = 10_000
export const REPORT_AT: MicroCredits = 10 * MICRO_PER_CREDIT
/** Of an isolate's revoked keys; longer than any key record is remembered. */
const REVOKED_MS = 60_000
const RETIRED_MAX = 64
/** Kinds of calls that a lease counts, 200 bytes each in every report: with more it is closed and another begins. */
export const LINES_MAX = 64
const IDLE_MS = 1_000
/** Less than a keeper keeps, or the meter would have to reclaim it. */
const IDLE_AMPLE_MS = HEARTBEAT_COVERAGE_MS - HEARTBEAT_MS
/** An amount is negligible where the account has this many times as much left. */
export const AMPLE = 64

/** Whether spending is due for a report. `sinceMs`: below 0 where the clock went back; `left`: what else there is. */
export function isReportDue(unreported: MicroCredits, sinceMs: number, left: MicroCredits): boolean {
  return unreported >= Math.min(REPORT_AT, left / AMPLE) || Math.abs(sinceMs) >= REPORT_EVERY_MS
}

export class CreditLease {
  readonly keyHash: KeyHash
  /** Of visitors without a key: what all of them together may spend in an hour. */
  readonly #visitorsPerHour: MicroCredits | undefined
  #current: IsolateLease | null = null
  /** Never spent from again: on their way to being closed, or ended by the meter while calls were in flight. */
  #retired: IsolateLease[] = []
  /** Amounts of `fromMicro` and more are refused until then: less than that is left. */
  #denial: Denial | null = null
  #revokedUntilMs = 0
  /** Outside all leases when the meter answered last, and all that the key could spend then. */
  #outside: MicroCredits = 0
  #left: MicroCredits = 0
  #lastUseMs = 0
  readonly #usage = new UsageRate()

  constructor(keyHash: KeyHash, visitorsPerHour?: MicroCredits) {
    this.keyHash = keyHash
    this.#visitorsPerHour = visitorsPerHour
  }

  /** Reserves `amount`, or says what to do instead. An amount of 0 needs a living lease too: it proves the key. */
  take(amount: MicroCredits, nowMs: number): CreditDecision {
    if (nowMs < this.#revokedUntilMs) return { do: 'revoked' }
    const lease = this.#current
    if (lease?.reserve(amount, nowMs)) {
      this.#lastUseMs = nowMs
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

  /** The call succeeded: what it held is spent, and counted under its product and type. */
  settle(lease: IsolateLease, amount: MicroCredits, product: string, type: string): void {
    lease.settle(amount)
    const name = `${product} ${type}`
    const line = lease.usage.get(name)
    lease.usage.set(name, { product, type, calls: (line?.calls ?? 0) + 1, amount: (line?.amount ?? 0) + amount })
  }

  /** The call failed: what it held may be spent again, so a cached refusal no longer holds. */
  release(lease: IsolateLease, amount: MicroCredits): void {
    lease.release(amount)
    if (lease === this.#current && amount > 0) this.#denial = null
  }

  /** What to send so that a call of `amount` can go on; `waiting` is the sum of all waiting calls. */
  request(amount: MicroCredits, waiting: MicroCredits, nowMs: number, newId: () => string): LeaseExchange {
    this.#current ??= new IsolateLease(newId())
    const lease = this.#current
    this.#lastUseMs = nowMs
    const missing = Math.max(0, amount - lease.free)
    if (missing === 0 && !this.#isDue(lease, nowMs)) {
      return { lease, amount, sentAtMs: nowMs, request: this.#noopRequest(lease) }
    }
    const { forecast } = this.#forecast(nowMs)
    const more = { need: missing, waiting: Math.max(missing, waiting - lease.free), forecast }
    return { lease, amount, sentAtMs: nowMs, request: this.#requestFor(lease, more, false) }
  }

  /** Takes in the meter's answer. Unordered and repeated answers are harmless: all numbers are cumulative. */
  applyResponse(asked: LeaseExchange, answer: LeaseResponse): void {
    const { lease, request, sentAtMs } = asked
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
      this.#denial = { fromMicro: asked.amount, cap, busyMs, untilMs: sentAtMs + DENIAL_MS }
      return
    }
    if (answer.reason === 'revoked') this.#revokedUntilMs = sentAtMs + REVOKED_MS
    if (answer.reason === 'gone') lease.ended = true
    this.#retire(lease)
  }

  /**
   * Exchanges that are due: spending that is old or much, with `all` any that is unreported; and the close of a lease that
   * nothing was taken from for a while, or that counts too many kinds of calls.
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

  /** True while the isolate owes the meter a report or holds credits. */
  get isBusy(): boolean {
    return this.#current !== null || this.#retired.length > 0
  }

  /** What the key may still spend as far as this isolate knows: what lies in leases of others may be spent too. */
  remaining(): MicroCredits {
    let left = this.#left
    for (const lease of this.#retired) left -= lease.unreported + lease.reserved
    if (this.#current !== null) left -= this.#current.unreported + this.#current.reserved
    return Math.max(0, left)
  }

  /** What an idle isolate holds others may need, unless there is ample left: then a slow caller need not ask each time. */
  #idleMs(lease: IsolateLease): number {
    return lease.free * AMPLE <= this.#outside ? IDLE_AMPLE_MS : IDLE_MS
  }

  #isDue({ unreported, reportedMs }: IsolateLease, nowMs: number): boolean {
    return isReportDue(unreported, nowMs - reportedMs, this.#outside)
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

  /** What a report asks for beside, so that no call has to wait: nothing where others may need it. */
  #topUp(lease: IsolateLease, nowMs: number): MicroCredits {
    const { forecast, isAmple } = this.#forecast(nowMs)
    return isAmple ? Math.max(0, forecast - lease.free) : 0
  }

  /** What will be spent, at the rate since this was asked last. */
  #forecast(nowMs: number): { readonly forecast: MicroCredits; readonly isAmple: boolean } {
    const long = this.#usage.forecast(FORECAST_AMPLE_MS, nowMs)
    const short = this.#usage.forecast(FORECAST_MS, nowMs)
    this.#usage.reset(nowMs)
    const isAmple = long * AMPLE <= this.#outside
    return { forecast: isAmple ? long : short, isAmple }
  }

  /** Says nothing that the meter does not know, so that it has nothing to write. */
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
    const said = { v: METER_API_VERSION, lease: id, keyHash: this.keyHash, spent, usage: [...usage.values()] }
    return { ...said, ...more, close, ...this.#visitorFields }
  }

  get #visitorFields(): Pick<LeaseRequest, 'visitorsPerHour'> {
    return this.#visitorsPerHour === undefined ? {} : { visitorsPerHour: this.#visitorsPerHour }
  }
}

/** A request on its way, with what is needed to take in its answer. */
export interface LeaseExchange {
  readonly lease: IsolateLease
  readonly amount: MicroCredits
  readonly sentAtMs: number
  readonly request: LeaseRequest
}
