// The isolate's side of a source's budget: weight granted ahead of use. Laws: a request goes only with all of its
// weight; weight is used within the time of its grant or not at all; what is lost on the way stays lost, nothing is made.

import { BUDGET_API_VERSION, type BudgetAnswer, type BudgetAsk, type GrantNews } from './budget-api.ts'
import { areAlike } from './weight.ts'

interface Grant {
  readonly id: string
  readonly untilMs: number
  left: number
  /** Spent for good, and not told yet. */
  used: number
}

/** What one request took, kept until its answer tells what it really cost. */
export interface Spending {
  readonly weight: number
  readonly parts: readonly { readonly grant: Grant; readonly weight: number }[]
}

/** Asked for ahead: what was used in the last while would last so long. */
const FORECAST_MS = 1_500
/** Older use says nothing about the next second. */
const FORGET_USE_MS = 4_000
/** A grant that ends within this time goes back while it can still arrive. */
const ENDING_MS = 1_300

export class WeightPurse {
  readonly #perMinute: number
  readonly #spreadMs: number
  #grants: Grant[] = []
  #owed = 0
  #used = 0
  #usedSinceMs = 0
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

  /** Takes a request's whole weight, or nothing and null. The grant that ends first is used first. */
  take(weight: number, nowMs: number): Spending | null {
    if (this.#here(nowMs) < weight) return null
    const parts: { grant: Grant; weight: number }[] = []
    let missing = weight
    for (const grant of this.#grants) {
      const some = Math.min(grant.left, missing)
      if (some === 0) continue
      grant.left -= some
      missing -= some
      parts.push({ grant, weight: some })
    }
    this.#used += weight
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
    this.#used = Math.max(0, this.#used - rest)
    if (rest < 0) this.#owed -= rest
    for (const { grant, weight: taken } of spending.parts.toReversed()) {
      const back = Math.min(taken, Math.max(0, rest))
      grant.left += back
      grant.used += taken - back
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
    this.#used = 0
    this.#usedSinceMs = nowMs
    const need = Math.max(0, waiting - here)
    return this.#exchange(grant, { weight, least: Math.max(0, weight - here), need, forecast })
  }

  /** The exchange that gives back what ends soon and what use does not need; null where there is nothing to tell. */
  giveBack(newGrant: string, nowMs: number): BudgetAsk | null {
    let spare = this.#here(nowMs) - this.#forecast(nowMs)
    const returned = new Map<Grant, number>()
    for (const grant of this.#grants) {
      const ends = grant.untilMs - nowMs < ENDING_MS
      const weight = ends ? grant.left : Math.min(grant.left, Math.max(0, spare))
      if (weight === 0) continue
      grant.left -= weight
      spare -= weight
      returned.set(grant, weight)
    }
    if (returned.size === 0 && this.#owed === 0) return null
    return this.#exchange(newGrant, { least: 0, need: 0, forecast: 0 }, returned)
  }

  /** Takes in the answer to an exchange that was sent at `sentAtMs`. */
  answered(ask: BudgetAsk, answer: BudgetAnswer, sentAtMs: number, nowMs: number): void {
    this.#left = { weight: answer.left, atMs: nowMs }
    if (answer.granted > 0)
      this.#grants.push({ id: ask.grant, untilMs: sentAtMs + answer.ttlMs, left: answer.granted, used: 0 })
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
    returned: ReadonlyMap<Grant, number> = new Map(),
  ): BudgetAsk {
    const owed = this.#owed
    this.#owed = 0
    const news: GrantNews[] = []
    for (const each of this.#grants) {
      const back = returned.get(each) ?? 0
      const used = each.used
      each.used = 0
      if (back + used > 0) news.push({ grant: each.id, returned: back, used })
    }
    return { v: BUDGET_API_VERSION, grant, perMinute: this.#perMinute, spreadMs: this.#spreadMs, owed, news, ...more }
  }

  #here(nowMs: number): number {
    if (this.#grants.some(({ untilMs }) => untilMs <= nowMs))
      this.#grants = this.#grants.filter(({ untilMs }) => untilMs > nowMs)
    return this.#grants.reduce((sum, { left }) => sum + left, 0)
  }

  #forecast(nowMs: number): number {
    const elapsedMs = Math.max(500, nowMs - this.#usedSinceMs)
    return elapsedMs > FORGET_USE_MS ? 0 : Math.ceil((this.#used * FORECAST_MS) / elapsedMs)
  }
}
