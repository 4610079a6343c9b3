// The isolate's side of a source's budget: weight granted ahead of use. Invariants: a request goes only with all of its
// weight; weight is used within the time of its grant or not at all; what is lost on the way stays lost, nothing is made.

import { LocalLease, UseRate } from '../core/local-lease.ts'
import { BUDGET_API_VERSION, type BudgetAnswer, type BudgetAsk, type GrantNews } from './budget-api.ts'
import { areAlike } from './weight.ts'

/** What one request took, kept until its answer tells what it really cost. */
export interface Spending {
  readonly weight: number
  readonly parts: readonly { readonly lease: LocalLease; readonly weight: number }[]
}

/** Asked for ahead: what was used in the last while would last so long. */
const FORECAST_MS = 1_500
/** Older use says nothing about the next second. */
const FORGET_USE_MS = 4_000
/** A grant that ends within this time goes back while it can still arrive. */
const ENDING_MS = 1_300

export class WeightLease {
  readonly #perMinute: number
  readonly #spreadMs: number
  /** The one that ends first is used first. */
  #leases: LocalLease[] = []
  #owed = 0
  readonly #use = new UseRate(500)
  /**
   * Requests like that and as heavy or heavier are refused until then: the bucket said so. Much heavier ones have to ask
   * once, because the bucket saves up for who has asked.
   */
  #refusals: readonly { readonly weight: number; readonly untilMs: number }[] = []
  /** What was last heard of the bucket. */
  #left: { readonly weight: number; readonly atMs: number } | null = null

  constructor(perMinute: number, spreadMs: number) {
    this.#perMinute = perMinute
    this.#spreadMs = spreadMs
  }

  /** Takes a request's whole weight, or nothing and null. */
  take(weight: number, nowMs: number): Spending | null {
    if (this.#here(nowMs) < weight) return null
    const parts: { lease: LocalLease; weight: number }[] = []
    let missing = weight
    for (const lease of this.#leases) {
      const some = Math.min(lease.free, missing)
      if (some === 0 || !lease.hold(some, nowMs)) continue
      missing -= some
      parts.push({ lease, weight: some })
    }
    this.#use.count(weight)
    return { weight, parts }
  }

  /** Milliseconds for which the bucket has refused this weight, 0 where it may be asked. */
  refusedMs(weight: number, nowMs: number): number {
    const refusal = this.#refusals.find((each) => areAlike(each.weight, weight) && each.weight <= weight)
    return Math.max(0, (refusal?.untilMs ?? 0) - nowMs)
  }

  /** The request turned out to cost `weight`: the rest may be used again as long as its grant lives; more is owed. */
  settle(spending: Spending, weight: number): void {
    let rest = spending.weight - weight
    this.#use.count(-rest)
    if (rest < 0) this.#owed -= rest
    for (const { lease, weight: taken } of spending.parts.toReversed()) {
      const back = Math.min(taken, Math.max(0, rest))
      lease.settle(taken, taken - back)
      rest -= back
    }
  }

  /** Whether use will outrun what is here before the next look: worth an exchange beside the requests. */
  runsLow(nowMs: number): boolean {
    const forecast = this.#forecast(nowMs)
    return forecast > 0 && this.#here(nowMs) * 2 < forecast && this.refusedMs(1, nowMs) === 0
  }

  /** The exchange for a request of `weight` at the head of a queue that needs `waiting` together; both 0: ahead of use. */
  ask(grant: string, weight: number, waiting: number, nowMs: number): BudgetAsk {
    const here = this.#here(nowMs)
    const forecast = Math.max(0, this.#forecast(nowMs) - here)
    this.#use.begin(nowMs)
    const need = Math.max(0, waiting - here)
    return this.#exchange(grant, { weight, least: Math.max(0, weight - here), need, forecast })
  }

  /** The exchange that gives back what ends soon and what use does not need; null where there is nothing to tell. */
  giveBack(newGrant: string, nowMs: number): BudgetAsk | null {
    let spare = this.#here(nowMs) - this.#forecast(nowMs)
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
    return this.#exchange(newGrant, { least: 0, need: 0, forecast: 0 }, returned)
  }

  /** Takes in the answer to an exchange that was sent at `sentAtMs`. */
  answered(ask: BudgetAsk, answer: BudgetAnswer, sentAtMs: number, nowMs: number): void {
    this.#left = { weight: answer.left, atMs: nowMs }
    if (answer.granted > 0) this.#leases.push(new LocalLease(ask.grant, answer.granted, sentAtMs + answer.ttlMs))
    const { least, weight = least } = ask
    if (least === 0) return
    this.#refusals = this.#refusals.filter((each) => each.untilMs > nowMs && !areAlike(each.weight, weight))
    if (answer.waitMs > 0) this.#refusals = [...this.#refusals, { weight, untilMs: nowMs + answer.waitMs }]
  }

  /** No answer came: returned weight is lost, and what is owed is told again, lest it be forgotten. */
  unanswered(ask: BudgetAsk): void {
    this.#owed += ask.owed
  }

  /** True while there is weight that may have to go back. */
  holds(nowMs: number): boolean {
    return this.#here(nowMs) > 0 || this.#owed > 0
  }

  /** What the bucket had when it was last asked. */
  get left(): { readonly weight: number; readonly atMs: number } | null {
    return this.#left
  }

  #exchange(
    grant: string,
    more: Pick<BudgetAsk, 'weight' | 'least' | 'need' | 'forecast'>,
    returned: ReadonlyMap<LocalLease, number> = new Map(),
  ): BudgetAsk {
    const owed = this.#owed
    this.#owed = 0
    const news: GrantNews[] = []
    for (const each of this.#leases) {
      const back = returned.get(each) ?? 0
      const used = each.unreported
      each.heard(each.spent)
      if (back + used > 0) news.push({ grant: each.id, returned: back, used })
    }
    return { v: BUDGET_API_VERSION, grant, perMinute: this.#perMinute, spreadMs: this.#spreadMs, owed, news, ...more }
  }

  #here(nowMs: number): number {
    if (this.#leases.some(({ untilMs }) => untilMs <= nowMs))
      this.#leases = this.#leases.filter(({ untilMs }) => untilMs > nowMs)
    return this.#leases.reduce((sum, { free }) => sum + free, 0)
  }

  #forecast(nowMs: number): number {
    return this.#use.within(FORECAST_MS, nowMs, FORGET_USE_MS)
  }
}
