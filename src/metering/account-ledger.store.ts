// Ledger of one account, stored in its tables. All balance changes go through it. ledger.ts and plans/plan-period.ts
// hold the rules. Invariant: changes run inside a transaction, so they apply completely or not at all.

import { type MicroCredits, wholeMicro } from '../core/amount.ts'
import { counters } from '../core/counters.ts'
import { type KeyHash, keyHashOf } from '../core/ids.ts'
import { Tables } from '../core/tables.store.ts'
import { type AccountState, remainingOf } from './account-state.ts'
import { countCredits } from './credit-counts.ts'
import { AMPLE, UNREPORTED_MAX } from './credit-lease.ts'
import { KeyCaps, KeyChanges, KeyEnds } from './keys.store.ts'
import type { LeaseRequest, LeaseResponse } from './lease-api.ts'
import {
  decideCharge,
  decideGrant,
  decideLease,
  decideReclaim,
  decideReport,
  evolveAccount,
  evolveLease,
  isOftenWrittenOff,
  newLease,
  RECLAIM_GRACE_MS,
} from './ledger.ts'
import { type MeterStorage, MeterStore } from './meter.store.ts'
import type { GrantResponse, PaidCall } from './meter-api.ts'
import { METER_API_VERSION } from './meter-version.ts'
import type { PipelineReport, PipelineResponse } from './pipeline-report.ts'
import { decidePlan, decideRenewal, type PlanDecision, type PlanInput, type PlanState } from './plans/plan-period.ts'
import {
  type AccountFacts,
  type Adoption,
  chainsOf,
  type Difference,
  differences,
  FACTS_MAX,
  type MeterFacts,
} from './reconciliation.ts'
import { Statements } from './statement.store.ts'
import type { MinuteCharge } from './streams/stream-api.ts'
import type { Payment, StreamPayer } from './streams/stream-ledger.ts'
import { StreamStore } from './streams/streams.store.ts'
import type { TopUps } from './top-ups.do.ts'
import { hourOf, mergeUsage } from './usage.ts'
import { UsageReports } from './usage-report.store.ts'
import { budgetNow, budgetWaitMs, type VisitorBudget } from './visitor-budget.ts'
import type { Webhooks } from './webhooks/webhooks.do.ts'

const v = METER_API_VERSION

/** Tables of one account's meter. */
export const tablesOf = (storage: MeterStorage, { sql } = storage) => ({
  store: new MeterStore(storage),
  plans: new PlanStore(sql),
  caps: new KeyCaps(sql),
  changes: new KeyChanges(sql),
  ends: new KeyEnds(sql),
  streams: new StreamStore(sql),
  usage: new UsageReports(sql),
  statements: new Statements(sql),
  visitors: new VisitorBudgets(sql),
})
export type MeterTables = ReturnType<typeof tablesOf>

export class AccountLedger implements StreamPayer {
  readonly #tables: MeterTables
  readonly #webhooks: Webhooks
  readonly #topUps: TopUps
  readonly #holds = new PipelineHolds()
  #periodEndMs: number

  constructor(tables: MeterTables, webhooks: Webhooks, topUps: TopUps) {
    this.#tables = tables
    this.#webhooks = webhooks
    this.#topUps = topUps
    this.#periodEndMs = tables.plans.read()?.untilMs ?? Number.POSITIVE_INFINITY
  }

  /**
   * End of the plan's period; infinite if the period has no end. It is cached, so decisions do not read the plan before
   * then.
   */
  get periodEndMs(): number {
    return this.#periodEndMs
  }

  account(): AccountState {
    return this.#tables.store.account()
  }

  usedBefore(): MicroCredits {
    return this.#tables.plans.read()?.usedBefore ?? 0
  }

  isRevoked(keyHash: KeyHash): boolean {
    return this.#tables.store.isRevoked(keyHash)
  }

  charge({ keyHash, amount, type, visitorsPerHour }: MinuteCharge, nowMs: number, isServed: boolean): Payment {
    const account = this.#tables.store.account()
    const event = decideCharge(account, wholeMicro(amount))
    const room = isServed ? Number.POSITIVE_INFINITY : this.#tables.caps.room(keyHash)
    if (event === null || room < amount) {
      return {
        ok: false,
        reason: 'exhausted',
        remaining: Math.min(account.available, room),
        cap: this.#tables.caps.limitingCap(keyHash, account.available),
      }
    }
    const busyMs = visitorsPerHour === undefined ? 0 : this.#tables.visitors.waitMs(visitorsPerHour, amount, nowMs)
    if (busyMs > 0) return { ok: false, reason: 'busy', busyMs }
    this.#tables.visitors.spend(visitorsPerHour, amount, nowMs)
    this.#tables.caps.add(keyHash, amount)
    this.#put(evolveAccount(account, event))
    countCredits(counters, [event])
    this.#tables.store.addUsage(keyHash, [{ product: 'stream', type, calls: 1, amount }], nowMs)
    return { ok: true }
  }

  refund(
    { keyHash, type, amount }: Pick<MinuteCharge, 'keyHash' | 'type' | 'amount'>,
    nowMs: number,
    chargedMs: number,
  ): void {
    this.#tables.caps.add(keyHash, -wholeMicro(amount))
    this.#put(evolveAccount(this.#tables.store.account(), { type: 'refunded', amount }))
    this.#tables.store.addUsage(keyHash, [{ product: 'stream', type, calls: -1, amount: -amount }], nowMs, chargedMs)
  }

  unpaidMax(keys: readonly KeyHash[]): MicroCredits {
    const { available, spent, writtenOff } = this.#tables.store.account()
    if (isOftenWrittenOff({ spent, writtenOff })) return 0
    const room = keys.reduce((least, key) => Math.min(least, this.#tables.caps.room(key)), available)
    return Math.min(UNREPORTED_MAX, Math.floor(room / AMPLE))
  }

  lease(request: LeaseRequest, nowMs: number): LeaseResponse {
    for (const amount of [request.spent, request.need, request.waiting, request.forecast]) wholeMicro(amount)
    const account = this.#tables.store.account()
    const known = this.#tables.store.lease(request.lease)
    const revoked = this.#tables.store.isRevoked(request.keyHash)
    const { visitorsPerHour } = request
    const visitorsLeft = this.#tables.visitors.left(visitorsPerHour, nowMs)
    const room = Math.min(this.#tables.caps.room(request.keyHash), Math.max(0, visitorsLeft))
    const { events, outcome } = decideLease(account, known?.lease ?? null, request, revoked, nowMs, room)
    const after = events.reduce(evolveAccount, account)
    const lease = events.reduce(evolveLease, known?.lease ?? newLease(request))
    countCredits(counters, events)
    if (events.length > 0) {
      const { added, merged } = mergeUsage(known?.usage ?? [], request.usage)
      this.#put(after)
      if (events.some(({ type }) => type === 'returned')) this.#tables.store.dropLease(lease.id)
      else this.#tables.store.putLease({ lease, usage: merged })
      this.#tables.store.addUsage(request.keyHash, added, nowMs)
      const uncharged = after.writtenOff - account.writtenOff
      if (uncharged > 0) this.#tables.statements.addUncharged(hourOf(nowMs), uncharged)
      this.#tables.caps.add(request.keyHash, after.spent - account.spent)
      this.#tables.visitors.spend(visitorsPerHour, after.spent + after.held - account.spent - account.held, nowMs)
    }
    const remaining = Math.min(after.available, this.#tables.caps.room(request.keyHash))
    const left = Math.min(after.available + after.held, this.#tables.caps.left(request.keyHash))
    if (outcome !== 'ok') {
      const cap = this.#tables.caps.limitingCap(request.keyHash, after.available)
      const isBusy = outcome === 'exhausted' && visitorsPerHour !== undefined && remaining >= request.need
      const busyMs = isBusy ? this.#tables.visitors.waitMs(visitorsPerHour, request.need, nowMs) : undefined
      return { v, ok: false, reason: outcome, remaining, left, cap, busyMs }
    }
    return { v, ok: true, granted: lease.granted, ttlMs: lease.untilMs - nowMs, remaining, left }
  }

  /**
   * Charges the increase in a pipeline's totals. These rows were already delivered, so they are charged even if the key
   * has ended since.
   */
  settlePipeline(
    { pipeline, name, type, rows, spent, hold = 0, ...report }: PipelineReport,
    nowMs: number,
  ): PipelineResponse {
    const keyHash = this.#tables.ends.newest(report.keyHash)
    const known = this.#tables.store.pipelineSums(pipeline)
    const account = this.#tables.store.account()
    const events = decideReport(account, known.spent, wholeMicro(spent), 0, this.#tables.caps.room(keyHash))
    countCredits(counters, events)
    if (events.length > 0) {
      const after = events.reduce(evolveAccount, account)
      const amount = after.spent - account.spent
      this.#put(after)
      this.#tables.caps.add(keyHash, amount)
      const line = { product: 'pipeline', type, calls: rows - known.rows, amount }
      this.#tables.store.addUsage(keyHash, [line], nowMs)
      this.#tables.store.putPipelineSums(pipeline, { rows, spent })
      this.#holds.drop(pipeline)
    }
    const { available } = this.#tables.store.account()
    const held = this.#holds.ofOthers(pipeline, keyHash, nowMs)
    const left = Math.max(0, Math.min(available - held.all, this.#tables.caps.room(keyHash) - held.ofKey))
    if (wholeMicro(hold) > 0 && hold <= left) this.#holds.put(pipeline, keyHash, hold, nowMs)
    const end = this.#tables.ends.endOf(keyHash, nowMs)
    if (end && name !== undefined) this.#webhooks.pipelinePaused({ pipeline, name, keyHash, ...end }, nowMs)
    return { v, available: left, cap: this.#tables.caps.limitingCap(keyHash, available), ended: end?.why }
  }

  grant(id: string, amount: MicroCredits, nowMs: number, call: PaidCall | null = null): GrantResponse {
    const account = this.#tables.store.account()
    const before = this.#tables.store.grantAmount(id)
    if (before !== null) {
      return before === amount ? { v, ok: true, repeated: true, account } : { v, ok: false, reason: 'conflict' }
    }
    const event = decideGrant(account, wholeMicro(amount))
    if (event === null) return { v, ok: false, reason: 'too_large' }
    const grown = evolveAccount(account, event)
    const after = call === null ? grown : evolveAccount(grown, { type: 'charged', amount })
    this.#put(after, call === null ? 'grown' : 'use')
    this.#tables.store.putGrant(id, amount, nowMs)
    if (call !== null) {
      countCredits(counters, [{ type: 'charged', amount }])
      const { keyHash, product, type } = call
      this.#tables.store.addUsage(keyHash, [{ product, type, calls: 1, amount }], nowMs)
    }
    return { v, ok: true, repeated: false, account: after }
  }

  applyPlan(order: PlanInput, nowMs: number): PlanState {
    for (const amount of [order.firstMicro ?? 0, order.terms.micro]) wholeMicro(amount)
    const before = this.#tables.plans.read()
    const decision = decidePlan(this.#tables.store.account(), before, order, nowMs)
    if (decision === null && before !== null) return before
    if (decision === null) throw new Error('an account without a plan must accept any plan')
    this.#applyPeriod(decision)
    return decision.state
  }

  /** Ends the plan's period if it is over. Runs before every decision, because an alarm may be late. */
  renewPlan(nowMs: number): void {
    const state = this.#tables.plans.read()
    const decision = state === null ? null : decideRenewal(this.#tables.store.account(), state, nowMs)
    if (decision !== null) this.#applyPeriod(decision)
  }

  /** Compares the account with D1, and makes the repairs of this side if asked to. */
  reconcile(d1: AccountFacts, apply: boolean, nowMs: number): readonly Difference[] {
    const found = differences(d1, this.#facts(d1.keys))
    if (!apply || found.length === 0) return found
    // A new cap counts the usage that is settled.
    this.#tables.store.settleUsage()
    for (const difference of found) this.#repair(difference, nowMs)
    const spent = new Map(d1.keys.map(({ hash, used }) => [hash, used]))
    for (const [first, ...heirs] of chainsOf(d1.keys))
      this.#tables.caps.raiseSpent(
        first,
        [first, ...heirs].reduce((sum, hash) => sum + (spent.get(hash) ?? 0), 0),
      )
    return found
  }

  #facts(keys: AccountFacts['keys']): MeterFacts {
    const { store, plans, caps, ends } = this.#tables
    const { spent, writtenOff } = store.account()
    return {
      plan: plans.read()?.plan ?? null,
      grants: store.grants(FACTS_MAX),
      used: store.uncopiedMs() === 0 ? store.usedBeforeImport() + spent + writtenOff : null,
      keys: keys.map(({ hash }) => {
        const { at: expiresMs, heir } = ends.of(hash)
        return { hash, isRevoked: store.isRevoked(hash), cap: caps.capOf(hash), expiresMs, heir }
      }),
    }
  }

  #repair({ what, id, d1, meter, repair }: Difference, nowMs: number): void {
    if (repair !== 'meter') return
    const { store, caps, ends } = this.#tables
    if (what === 'grant') this.grant(id, Number(d1), nowMs)
    else if (what === 'used') this.#chargeForgotten(Number(d1) - Number(meter))
    const key = keyHashOf(id)
    if (what === 'revoked') store.putRevoked(key, nowMs)
    else if (what === 'expires') ends.put(key, Number(d1))
    else if (what === 'cap') caps.put(key, Number(d1))
    else if (what === 'heir') {
      const heir = keyHashOf(String(d1))
      ends.replace(key, heir)
      caps.inherit(key, heir)
    }
  }

  #chargeForgotten(amount: MicroCredits): void {
    const account = this.#tables.store.account()
    const charged = Math.min(account.available, amount)
    this.#put(evolveAccount(account, { type: 'settled_late', charged, writtenOff: amount - charged }))
  }

  /**
   * Takes over an exported account if this one is empty, with the limits of its keys. True if that is done, also by an
   * earlier call; otherwise it returns false and changes nothing.
   */
  adopt({ id, balance, plan, facts }: Adoption, nowMs: number): boolean {
    const { store, plans } = this.#tables
    if (store.grantAmount(id) === balance) return true
    if (store.account().granted > 0 || plans.read() !== null || store.grants(1).length > 0) return false
    this.applyPlan({ ...plan, firstMicro: 0 }, nowMs)
    store.putIncluded(facts.grants, facts.used)
    const given = this.grant(id, balance, nowMs)
    if (!given.ok || given.repeated) throw new Error('the grant of an imported balance must be new')
    this.reconcile(facts, true, nowMs)
    return true
  }

  /** Reclaims the leases of isolates that stopped reporting. */
  reclaim(nowMs: number): void {
    for (const { lease, usage } of this.#tables.store.overdue(nowMs - RECLAIM_GRACE_MS)) {
      const event = decideReclaim(lease, nowMs)
      if (event === null) continue
      this.#put(evolveAccount(this.#tables.store.account(), event))
      countCredits(counters, [event])
      this.#tables.store.putLease({ lease: evolveLease(lease, event), usage })
    }
  }

  #applyPeriod(decision: PlanDecision): void {
    this.#put(decision.events.reduce(evolveAccount, this.#tables.store.account()), 'new period')
    this.#tables.plans.put(decision)
    this.#periodEndMs = decision.state.untilMs ?? Number.POSITIVE_INFINITY
  }

  /** Every balance change passes through here. */
  #put(account: AccountState, by: 'use' | 'grown' | 'new period' = 'use'): void {
    this.#tables.store.putAccount(account)
    if (by !== 'use') this.#tables.store.recordPeak(remainingOf(account), by === 'new period')
    this.#webhooks.onBalanceChange(remainingOf(account), by === 'new period', Date.now())
    this.#topUps.onBalanceChange(remainingOf(account), Date.now())
  }
}

/** Maximum age of a hold. It exceeds the time that a batch can be in transit. */
const HOLD_MS = 150_000

interface Hold {
  readonly keyHash: KeyHash
  readonly amount: MicroCredits
  readonly untilMs: number
}

/**
 * Reserves credits for batches in transit, so that two pipelines of one account never spend the same credits. The holds
 * are in memory, so a restart forgets them. Invariants: a hold is granted completely or not at all; a pipeline has at
 * most one hold.
 */
class PipelineHolds {
  readonly #holds = new Map<string, Hold>()

  /** Credits held by other pipelines: in total, and under this key's cap. */
  ofOthers(
    pipeline: string,
    keyHash: KeyHash,
    nowMs: number,
  ): { readonly all: MicroCredits; readonly ofKey: MicroCredits } {
    for (const [id, { untilMs }] of this.#holds) if (untilMs <= nowMs) this.#holds.delete(id)
    const others = [...this.#holds].filter(([id]) => id !== pipeline).map(([, hold]) => hold)
    const ofKey = others.filter((hold) => hold.keyHash === keyHash)
    return { all: sumOf(others), ofKey: sumOf(ofKey) }
  }

  put(pipeline: string, keyHash: KeyHash, amount: MicroCredits, nowMs: number): void {
    this.#holds.set(pipeline, { keyHash, amount, untilMs: nowMs + HOLD_MS })
  }

  drop(pipeline: string): void {
    this.#holds.delete(pipeline)
  }
}

const sumOf = (holds: readonly Hold[]) => holds.reduce((sum, { amount }) => sum + amount, 0)

/** Plan of an account, and one row per past period with its granted and expired credits. */
class PlanStore extends Tables {
  read(): PlanState | null {
    const row = this.first<Omit<PlanState, 'renews'> & { renews: number }>(
      `SELECT plan, anchor AS anchorMs, since AS sinceMs, until AS untilMs, micro, every AS everyMicro,
         used_before AS usedBefore, renews FROM plan`,
    )
    return row === undefined ? null : { ...row, renews: row.renews === 1 }
  }

  /**
   * Changes the credits of later periods, not of the current one. Does nothing if the account has a different plan, or
   * if the plan does not renew.
   */
  setEvery(plan: string, everyMicro: number): void {
    this.run('UPDATE plan SET every = ? WHERE plan = ? AND renews = 1', everyMicro, plan)
  }

  put({ state, expired }: PlanDecision): void {
    const { plan, anchorMs, sinceMs, untilMs, micro, everyMicro, usedBefore, renews } = state
    this.run(
      `INSERT INTO plan VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET plan = excluded.plan,
       anchor = excluded.anchor, since = excluded.since, until = excluded.until, micro = excluded.micro,
       every = excluded.every, used_before = excluded.used_before, renews = excluded.renews`,
      plan,
      anchorMs,
      sinceMs,
      untilMs,
      micro,
      everyMicro,
      usedBefore,
      renews ? 1 : 0,
    )
    this.run('UPDATE periods SET until = ?, expired = ? WHERE expired IS NULL', sinceMs, expired)
    this.run('INSERT INTO periods (plan, since, until, granted) VALUES (?, ?, ?, ?)', plan, sinceMs, untilMs, micro)
  }
}

/**
 * Remaining visitor budget, stored in the meter of the paying account. Invariants: it is written in the transaction of
 * the decision that spends it; an account that has no visitors never reads or writes it.
 */
class VisitorBudgets extends Tables {
  /** Amount that visitors may spend now; infinite for other callers. */
  left(perHour: MicroCredits | undefined, nowMs: number): number {
    return perHour === undefined ? Number.POSITIVE_INFINITY : this.#now(perHour, nowMs).left
  }

  /** Milliseconds until visitors may spend `amount`; 0 if they may spend it now. */
  waitMs(perHour: MicroCredits, amount: MicroCredits, nowMs: number): number {
    return budgetWaitMs(this.#now(perHour, nowMs), perHour, amount)
  }

  /** Deducts an amount that was spent or leased. A negative amount is a return. */
  spend(perHour: MicroCredits | undefined, amount: MicroCredits, nowMs: number): void {
    if (perHour === undefined || amount === 0) return
    const { left, atMs } = this.#now(perHour, nowMs)
    this.run('INSERT OR REPLACE INTO visitors VALUES (1, ?, ?)', left - amount, atMs)
  }

  #now(perHour: MicroCredits, nowMs: number): VisitorBudget {
    const row = this.first<VisitorBudget>('SELECT left_micro AS left, at AS atMs FROM visitors')
    return budgetNow(row ?? null, perHour, nowMs)
  }
}
