// Pays for requests to a budgeted source from weight leased ahead, so most requests need no round trip. Invariants: one
// exchange with the bucket at a time; updates are never resent; while the bucket is unreachable, only leased weight is
// spent, because an overloaded source blocks everyone; waiting callers are served fairly, however many requests each
// has.

import { BoundedMap } from '../core/bounded-map.ts'
import { type After, orFallback } from '../core/deadline.ts'
import { HEARTBEAT_MS, Heartbeat } from '../core/heartbeat.ts'
import { DOWN_MS, LocalLease, SerialExchanges, UsageRate } from '../core/local-lease.ts'
import {
  BUDGET_API_VERSION,
  type BudgetRequest,
  type BudgetResponse,
  type GrantUpdate,
  type SourceBudgetApi,
} from './budget-api.ts'
import { areAlike } from './weight.ts'
import { WEIGHT_TTL_MS } from './weight-bucket.ts'

/** Weight reserved by a request until its response shows the real cost. */
export interface WeightReservation {
  readonly weight: number
  readonly parts: readonly { readonly lease: LocalLease; readonly weight: number }[]
}

/** Forecast window for weight requested ahead. */
const FORECAST_MS = 1_500
/** Older usage does not predict the next second. */
const FORGET_USE_MS = 4_000
/** A grant this close to its expiry is returned, so that the return still arrives in time. */
const ENDING_MS = 1_300

export class WeightLease {
  readonly #perMinute: number
  readonly #spreadMs: number
  /** Earliest expiry first. */
  #leases: LocalLease[] = []
  #owed = 0
  readonly #usage = new UsageRate(500)
  /**
   * Until `untilMs`, requests of the same weight class that weigh at least `weight` are refused. All other requests may
   * still ask the bucket, which saves for each class.
   */
  #refusals: readonly { readonly weight: number; readonly untilMs: number }[] = []
  /** Last known weight in the bucket. */
  #remaining: { readonly weight: number; readonly atMs: number } | null = null

  constructor(perMinute: number, spreadMs: number) {
    this.#perMinute = perMinute
    this.#spreadMs = spreadMs
  }

  /** Reserves the full weight of a request. Returns null if less is available. */
  take(weight: number, nowMs: number): WeightReservation | null {
    if (this.#available(nowMs) < weight) return null
    const parts: { lease: LocalLease; weight: number }[] = []
    let missing = weight
    for (const lease of this.#leases) {
      const some = Math.min(lease.free, missing)
      if (some === 0 || !lease.reserve(some, nowMs)) continue
      missing -= some
      parts.push({ lease, weight: some })
    }
    this.#usage.count(weight)
    return { weight, parts }
  }

  /** How long requests of this weight are still refused, in ms. 0 if the lease may ask the bucket. */
  refusedMs(weight: number, nowMs: number): number {
    const refusal = this.#refusals.find((each) => areAlike(each.weight, weight) && each.weight <= weight)
    return Math.max(0, (refusal?.untilMs ?? 0) - nowMs)
  }

  /** The request cost `weight`. Unused weight is available again while its grant lasts; an excess is owed. */
  settle(spending: WeightReservation, weight: number): void {
    let rest = spending.weight - weight
    this.#usage.count(-rest)
    if (rest < 0) this.#owed -= rest
    for (const { lease, weight: taken } of spending.parts.toReversed()) {
      const back = Math.min(taken, Math.max(0, rest))
      lease.settle(taken, taken - back)
      rest -= back
    }
  }

  /** True if usage will exceed the local weight before the next check, so a background exchange pays off. */
  runsLow(nowMs: number): boolean {
    const forecast = this.#forecast(nowMs)
    return forecast > 0 && this.#available(nowMs) * 2 < forecast && this.refusedMs(1, nowMs) === 0
  }

  /**
   * Builds a request for `weight`, the head of a queue that needs `waiting` in total. Both are 0 if weight is requested
   * ahead of use.
   */
  request(grant: string, weight: number, waiting: number, nowMs: number): BudgetRequest {
    const here = this.#available(nowMs)
    const forecast = Math.max(0, this.#forecast(nowMs) - here)
    this.#usage.reset(nowMs)
    const need = Math.max(0, waiting - here)
    return this.#exchange(grant, { weight, least: Math.max(0, weight - here), need, forecast })
  }

  /** Exchange that returns expiring and unneeded weight; null if there is nothing to report. */
  giveBack(newGrant: string, nowMs: number): BudgetRequest | null {
    let spare = this.#available(nowMs) - this.#forecast(nowMs)
    const returned = new Map<LocalLease, number>()
    for (const lease of this.#leases) {
      const ends = lease.untilMs - nowMs < ENDING_MS
      const weight = ends ? lease.free : Math.min(lease.free, Math.max(0, spare))
      if (weight === 0) continue
      lease.giveBack(weight)
      spare -= weight
      returned.set(lease, weight)
    }
    if (returned.size === 0 && this.#owed === 0) return null
    return this.#exchange(newGrant, { weight: 0, least: 0, need: 0, forecast: 0 }, returned)
  }

  /** Applies the response to a request sent at `sentAtMs`. */
  applyResponse(ask: BudgetRequest, answer: BudgetResponse, sentAtMs: number, nowMs: number): void {
    this.#remaining = { weight: answer.left, atMs: nowMs }
    if (answer.granted > 0) this.#leases.push(new LocalLease(ask.grant, answer.granted, sentAtMs + answer.ttlMs))
    const { least, weight } = ask
    if (least === 0) return
    this.#refusals = this.#refusals.filter((each) => each.untilMs > nowMs && !areAlike(each.weight, weight))
    if (answer.waitMs > 0) this.#refusals = [...this.#refusals, { weight, untilMs: nowMs + answer.waitMs }]
  }

  /** Handles a missing response. Returned weight is lost, and owed weight is reported again. */
  onNoResponse(ask: BudgetRequest): void {
    this.#owed += ask.owed
  }

  /** True while weight may have to be returned or is owed. */
  hasUnsettled(nowMs: number): boolean {
    return this.#available(nowMs) > 0 || this.#owed > 0
  }

  /** Weight in the bucket at the last exchange. */
  get remaining(): { readonly weight: number; readonly atMs: number } | null {
    return this.#remaining
  }

  #exchange(
    grant: string,
    more: Pick<BudgetRequest, 'weight' | 'least' | 'need' | 'forecast'>,
    returned: ReadonlyMap<LocalLease, number> = new Map(),
  ): BudgetRequest {
    const owed = this.#owed
    this.#owed = 0
    const news: GrantUpdate[] = []
    for (const each of this.#leases) {
      const back = returned.get(each) ?? 0
      const used = each.unreported
      each.acknowledge(each.spent)
      if (back + used > 0) news.push({ grant: each.id, returned: back, used })
    }
    return { v: BUDGET_API_VERSION, grant, perMinute: this.#perMinute, spreadMs: this.#spreadMs, owed, news, ...more }
  }

  #available(nowMs: number): number {
    if (this.#leases.some(({ untilMs }) => untilMs <= nowMs))
      this.#leases = this.#leases.filter(({ untilMs }) => untilMs > nowMs)
    return this.#leases.reduce((sum, { free }) => sum + free, 0)
  }

  #forecast(nowMs: number): number {
    return this.#usage.forecast(FORECAST_MS, nowMs, FORGET_USE_MS)
  }
}

/** Payment for requests to a source. */
export interface Budget {
  /** `waitMs`: time to wait before retrying. Call `settle` with the real weight once known. */
  take(weight: number, caller: string): Promise<Payment>
  /** Weight in the bucket, at most one second old; null if it is unreachable. */
  remaining(): Promise<{ readonly weight: number; readonly atMs: number } | null>
}

export type Payment =
  | { readonly paid: true; readonly settle: (weight: number) => void }
  | { readonly paid: false; readonly waitMs: number }

export interface BudgetDeps {
  readonly api: () => SourceBudgetApi
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly after: After
  readonly newId: () => string
  /** Keeps work alive after the request that started it. */
  readonly background: (work: Promise<unknown>) => void
}

const EXCHANGE_TIMEOUT_MS = 1_000
const FLIGHT_MAX_MS = 2 * EXCHANGE_TIMEOUT_MS + DOWN_MS
/** Maximum number of exchanges per request. It is reached only if other requests take every grant first. */
const ROUNDS_MAX = 10
/** Upper bound on a request's wait for a grant. */
const WAIT_MAX_MS = ROUNDS_MAX * FLIGHT_MAX_MS
/** Maximum number of callers whose last service is remembered. */
const CALLERS_MAX = 1_000

interface Waiter {
  readonly weight: number
  readonly caller: string
  readonly sinceMs: number
  spending: WeightReservation | null
}

export class LeasedBudget implements Budget {
  readonly #deps: BudgetDeps
  readonly #lease: WeightLease
  readonly #exchanges: SerialExchanges
  readonly #heartbeat = new Heartbeat()
  /** Requests waiting for a grant. A killed request never removes itself. */
  readonly #waiting = new Set<Waiter>()
  /** Sequence number of each caller's last service. */
  readonly #served = new BoundedMap<string, number>(CALLERS_MAX)
  #turn = 0

  constructor(perMinute: number, timeoutMs: number, deps: BudgetDeps) {
    this.#lease = new WeightLease(perMinute, WEIGHT_TTL_MS + timeoutMs)
    this.#deps = deps
    this.#exchanges = new SerialExchanges(FLIGHT_MAX_MS, deps.after)
  }

  async take(weight: number, caller: string): Promise<Payment> {
    const spending = await this.#takeFairly(weight, caller)
    if ('waitMs' in spending) return { paid: false, waitMs: spending.waitMs }
    this.#maintain()
    return { paid: true, settle: (real) => this.#lease.settle(spending, real) }
  }

  async remaining(): Promise<{ readonly weight: number; readonly atMs: number } | null> {
    const known = this.#lease.remaining
    if (known !== null && this.#deps.now() - known.atMs < HEARTBEAT_MS) return known
    if (!this.#isBusy) this.#startExchange(this.#lease.request(this.#deps.newId(), 0, 0, this.#deps.now()))
    await this.#exchanges.wait(this.#deps.now())
    return this.#exchanges.downMs(this.#deps.now()) > 0 ? null : this.#lease.remaining
  }

  async #takeFairly(weight: number, caller: string): Promise<WeightReservation | { readonly waitMs: number }> {
    const waiting: Waiter = { weight, caller, sinceMs: this.#deps.now(), spending: null }
    this.#waiting.add(waiting)
    try {
      for (let turn = 0; turn < ROUNDS_MAX; turn++) {
        const now = this.#deps.now()
        this.#serve(now)
        if (waiting.spending !== null) return waiting.spending
        const waitMs = Math.max(this.#lease.refusedMs(weight, now), this.#exchanges.downMs(now))
        if (waitMs > 0) return { waitMs }
        if (!this.#isBusy)
          this.#startExchange(this.#lease.request(this.#deps.newId(), weight, this.#waitingWeight(now), now))
        await this.#exchanges.wait(this.#deps.now())
      }
      return waiting.spending ?? { waitMs: DOWN_MS }
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  #serve(nowMs: number): void {
    let tooHeavy = Number.POSITIVE_INFINITY
    for (;;) {
      const next = this.#next(tooHeavy)
      if (next === null) return
      next.spending = this.#lease.take(next.weight, nowMs)
      if (next.spending === null) tooHeavy = next.weight
      else {
        this.#waiting.delete(next)
        this.#served.set(next.caller, ++this.#turn)
      }
    }
  }

  /** Among requests lighter than `weight`, the first request of the caller that was served longest ago. */
  #next(weight: number): Waiter | null {
    let next: Waiter | null = null
    let least = Number.POSITIVE_INFINITY
    for (const one of this.#waiting) {
      const turn = this.#served.get(one.caller) ?? 0
      if (one.weight >= weight || turn >= least) continue
      next = one
      least = turn
    }
    return next
  }

  #waitingWeight(nowMs: number): number {
    let sum = 0
    for (const one of this.#waiting) {
      if (nowMs - one.sinceMs < WAIT_MAX_MS) sum += one.weight
      else this.#waiting.delete(one)
    }
    return sum
  }

  get #isBusy(): boolean {
    return this.#exchanges.isInFlight(this.#deps.now())
  }

  #startExchange(ask: BudgetRequest): void {
    this.#deps.background(this.#exchanges.start(() => this.#exchange(ask), this.#deps.now()))
  }

  async #exchange(ask: BudgetRequest): Promise<void> {
    const sentAtMs = this.#deps.now()
    const again = { ...ask, grant: this.#deps.newId(), news: [] }
    // A restarted object fails only the first call.
    const sent = await this.#send(ask)
      .catch(() => this.#send(again))
      .catch(() => null)
    if (sent !== null) return this.#lease.applyResponse(sent.ask, sent.answer, sentAtMs, this.#deps.now())
    this.#lease.onNoResponse(ask)
    this.#exchanges.markFailed(this.#deps.now())
  }

  /** Null if the response is late, because its grant is lost then. */
  async #send(ask: BudgetRequest): Promise<{ readonly ask: BudgetRequest; readonly answer: BudgetResponse } | null> {
    const answer = await orFallback(this.#deps.api().exchange(ask), EXCHANGE_TIMEOUT_MS, null, this.#deps.after)
    return answer === null ? null : { ask, answer }
  }

  /** Maintains leased weight: fetches it ahead of use and returns unused weight. */
  #maintain(): void {
    const now = this.#deps.now()
    if (!this.#isBusy && this.#lease.runsLow(now))
      this.#startExchange(this.#lease.request(this.#deps.newId(), 0, 0, now))
    if (this.#heartbeat.isAlive(now)) return
    const clock = { nowMs: this.#deps.now, sleep: this.#deps.sleep }
    this.#deps.background(this.#heartbeat.run(clock, (atMs) => this.#returnUnused(atMs)))
  }

  /** One round of the heartbeat; true while weight is leased. */
  async #returnUnused(nowMs: number): Promise<boolean> {
    const back = this.#isBusy ? null : this.#lease.giveBack(this.#deps.newId(), nowMs)
    if (back !== null) {
      this.#startExchange(back)
      await this.#exchanges.wait(this.#deps.now())
    }
    return this.#lease.hasUnsettled(this.#deps.now())
  }
}
