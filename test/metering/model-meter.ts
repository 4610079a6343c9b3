// An in-memory CreditMeter: the same pure decisions over Maps, with recorded events, for invariants and simulations.

import { type AccountState, EMPTY_ACCOUNT } from '../../src/metering/account-state.ts'
import type { LeaseMeterApi, LeaseRequest, LeaseResponse } from '../../src/metering/lease-api.ts'
import {
  decideCharge,
  decideGrant,
  decideLease,
  decideReclaim,
  decideReport,
  evolveAccount,
  evolveLease,
  type Lease,
  type LedgerEvent,
} from '../../src/metering/ledger.ts'
import { METER_API_VERSION } from '../../src/metering/meter-version.ts'
import { PLANS } from '../../src/metering/plans/plan.ts'
import { decidePlan, decideRenewal, type PlanDecision, type PlanState } from '../../src/metering/plans/plan-period.ts'
import { RequestBuckets } from '../../src/metering/request-buckets.ts'
import { mergeUsage, type UsageLine } from '../../src/metering/usage.ts'

const v = METER_API_VERSION

export class ModelMeter implements LeaseMeterApi {
  account: AccountState = EMPTY_ACCOUNT
  readonly leases = new Map<string, Lease>()
  readonly usage = new Map<string, readonly UsageLine[]>()
  readonly charges = new Set<string>()
  readonly revoked = new Set<string>()
  /** Totals of pipelines, and all reports, in order. */
  readonly pipelines = new Map<string, number>()
  readonly told: number[] = []
  /** Caps of keys and their spending. */
  readonly caps = new Map<string, number>()
  readonly spentOf = new Map<string, number>()
  readonly events: LedgerEvent[] = []
  readonly requests = new RequestBuckets()
  state: PlanState | null = null
  readonly nowMs: () => number
  exchanges = 0

  constructor(credits: number, nowMs: () => number = () => 0) {
    this.nowMs = nowMs
    this.grant(credits)
  }

  grant(amount: number): void {
    const event = decideGrant(this.account, amount)
    if (event !== null) this.#apply(event)
  }

  plan(plan: keyof typeof PLANS): void {
    const order = { plan, terms: PLANS[plan].terms, firstMicro: null }
    this.#turn(decidePlan(this.account, this.state, order, this.nowMs()))
  }

  renew(): void {
    if (this.state !== null) this.#turn(decideRenewal(this.account, this.state, this.nowMs()))
  }

  /** 'ok', 'repeated' or 'exhausted'. */
  charge(id: string, amount: number, key = ''): string {
    if (this.charges.has(id)) return 'repeated'
    const event = decideCharge(this.account, amount)
    if (event === null || this.#room(key) < amount) return 'exhausted'
    this.#applyFor(key, event)
    this.charges.add(id)
    return 'ok'
  }

  settlePipeline(id: string, spent: number, key: string): { readonly available: number } {
    this.told.push(spent)
    const events = decideReport(this.account, this.reported(id), spent, 0, this.#room(key))
    for (const event of events) this.#applyFor(key, event)
    this.pipelines.set(id, Math.max(spent, this.reported(id)))
    return { available: this.account.available }
  }

  reported(pipeline: string): number {
    return this.pipelines.get(pipeline) ?? 0
  }

  /** Charged or written off. */
  get accounted(): number {
    return this.account.spent + this.account.writtenOff
  }

  decide(request: LeaseRequest): LeaseResponse {
    this.exchanges++
    const known = this.leases.get(request.lease) ?? null
    const revoked = this.revoked.has(request.keyHash)
    const { events, outcome } = decideLease(
      this.account,
      known,
      request,
      revoked,
      this.nowMs(),
      this.#room(request.keyHash),
    )
    const blank = { id: request.lease, keyHash: request.keyHash, granted: 0, settled: 0, untilMs: 0, open: true }
    if (events.length > 0) {
      if (events.some(({ type }) => type === 'returned')) this.leases.delete(request.lease)
      else this.leases.set(request.lease, events.reduce(evolveLease, known ?? blank))
      this.usage.set(request.lease, mergeUsage(this.usage.get(request.lease) ?? [], request.usage).merged)
    }
    for (const event of events) this.#applyFor(request.keyHash, event)
    const remaining = this.account.available
    const { keyHash } = request
    const underCap = (this.caps.get(keyHash) ?? Number.POSITIVE_INFINITY) - (this.spentOf.get(keyHash) ?? 0)
    const left = Math.min(remaining + this.account.held, underCap)
    if (outcome !== 'ok') return { v, ok: false, reason: outcome, remaining, left, cap: this.caps.get(keyHash) }
    const { granted, untilMs } = this.leases.get(request.lease) ?? { granted: 0, untilMs: this.nowMs() }
    return { v, ok: true, granted, ttlMs: untilMs - this.nowMs(), remaining, left }
  }

  async lease(request: LeaseRequest): Promise<LeaseResponse> {
    const answer = this.decide(structuredClone(request))
    if (!answer.ok || request.requests === undefined) return answer
    return { ...answer, requests: this.requests.take(request.keyHash, request.requests, this.nowMs()) }
  }

  reclaim(): void {
    for (const lease of this.leases.values()) {
      const event = decideReclaim(lease, this.nowMs())
      if (event === null) continue
      this.leases.set(lease.id, evolveLease(lease, event))
      this.#apply(event)
    }
  }

  /** Throws if a ledger invariant is violated. */
  checkLaws(): void {
    const { available, held, spent, granted, writtenOff } = this.account
    for (const amount of [available, held, spent, granted, writtenOff]) {
      if (!Number.isSafeInteger(amount) || amount < 0) throw new Error(`below zero: ${JSON.stringify(this.account)}`)
    }
    if (available + held + spent !== granted) throw new Error(`sums: ${JSON.stringify(this.account)}`)
    let open = 0
    for (const lease of this.leases.values()) {
      if (lease.granted < lease.settled) throw new Error(`settled beyond the grant: ${JSON.stringify(lease)}`)
      if (lease.open) open += lease.granted - lease.settled
    }
    for (const [key, cap] of this.caps) {
      if ((this.spentOf.get(key) ?? 0) + this.#heldBy(key) > cap) throw new Error(`${key} went beyond its cap`)
    }
    const pipelines = [...this.pipelines.values()].reduce((sum, told) => sum + told, 0)
    if (spent + writtenOff < pipelines) throw new Error(`pipelines told ${pipelines}, of which some is nowhere`)
    if (open !== held) throw new Error(`held ${held}, open leases have ${open}`)
    if (this.#sumOfEvents() !== available) throw new Error('the sum of events is not the balance')
  }

  #heldBy(key: string): number {
    const own = [...this.leases.values()].filter((lease) => lease.open && lease.keyHash === key)
    return own.reduce((sum, { granted, settled }) => sum + granted - settled, 0)
  }

  #room(key: string): number {
    const cap = this.caps.get(key)
    if (cap === undefined) return Number.POSITIVE_INFINITY
    return Math.max(0, cap - (this.spentOf.get(key) ?? 0) - this.#heldBy(key))
  }

  #applyFor(key: string, event: LedgerEvent): void {
    const before = this.account.spent
    this.#apply(event)
    this.spentOf.set(key, (this.spentOf.get(key) ?? 0) + this.account.spent - before)
  }

  #turn(decision: PlanDecision | null): void {
    for (const event of decision?.events ?? []) this.#apply(event)
    this.state = decision?.state ?? this.state
  }

  #apply(event: LedgerEvent): void {
    this.events.push(event)
    this.account = evolveAccount(this.account, event)
  }

  /** Computed from event signs, independently of evolveAccount. */
  #sumOfEvents(): number {
    const signs = {
      granted: 1,
      expired: -1,
      charged: -1,
      refunded: 1,
      leased: -1,
      settled: 0,
      settled_late: -1,
      returned: 1,
      reclaimed: 1,
    }
    return this.events.reduce(
      (sum, event) => sum + signs[event.type] * (event.type === 'settled_late' ? event.charged : event.amount),
      0,
    )
  }
}
