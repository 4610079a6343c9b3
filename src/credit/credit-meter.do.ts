// One per account: the only place where its balance changes. Laws: one synchronous transaction per decision, so an
// answer that was sent has happened and one that was not has not; everything is decided in ledger.ts.
// A little over 300 lines because every way in which a balance changes is to be read in one place.

import { DurableObject } from 'cloudflare:workers'
import type { AccountState } from './account-state.ts'
import { type MicroCredits, wholeMicro } from './amount.ts'
import { KeyCaps } from './key-caps.store.ts'
import { KeyChanges } from './key-changes.store.ts'
import type { LeaseAnswer, LeaseRequest } from './lease-api.ts'
import { decideCharge, decideGrant, decideLease, decideReclaim, evolveAccount, evolveLease, LEASE_TTL_MS, newLease, RECLAIM_GRACE_MS } from './ledger.ts'
import { MeterStore } from './meter.store.ts'
import type { Charge, ChargeAnswer, GrantAnswer, WholeMeterApi } from './meter-api.ts'
import { METER_API_VERSION } from './meter-version.ts'
import { PlanStore } from './plans/plan-period.store.ts'
import { decidePlan, decideRenewal, type PlanDecision, type PlanOrder, type PlanState } from './plans/plan-period.ts'
import { RequestBuckets } from './request-buckets.ts'
import type { StreamAnswer, StreamReport } from './streams/stream-api.ts'
import type { StreamPayer } from './streams/stream-ledger.ts'
import { StreamStore } from './streams/streams.store.ts'
import { type DayUsage, mergeUsage, type UsageKeeper, type UsageRow } from './usage.ts'
import { copyUsage } from './usage-outbox.do.ts'
import type { Delivery, Webhook, WebhookOrder } from './webhooks/webhook-api.ts'
import { Webhooks } from './webhooks/webhooks.do.ts'

const v = METER_API_VERSION
/** Old rows are looked for at least this often while there are any. */
const PRUNE_EVERY_MS = 3_600_000
/** Usage is copied at most this long after it was counted. */
const COPY_EVERY_MS = 60_000

export class CreditMeter extends DurableObject<Cloudflare.Env> implements WholeMeterApi {
  readonly #store: MeterStore
  readonly #plans: PlanStore
  readonly #caps: KeyCaps
  readonly #changes: KeyChanges
  readonly #webhooks: Webhooks
  readonly #streams: StreamStore
  readonly #requests = new RequestBuckets()
  #alarmAtMs = 0
  /** End of the plan's period as stored, so that no decision reads the plan before it is due. */
  #periodEndMs: number

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#store = new MeterStore(ctx.storage.sql)
    this.#plans = new PlanStore(ctx.storage.sql)
    this.#caps = new KeyCaps(ctx.storage.sql)
    this.#changes = new KeyChanges(ctx.storage.sql)
    this.#webhooks = new Webhooks(ctx)
    this.#streams = new StreamStore(ctx.storage.sql)
    this.#periodEndMs = this.#plans.read()?.untilMs ?? Number.POSITIVE_INFINITY
  }

  charge(charge: Charge): Promise<ChargeAnswer> {
    return this.#decide((now) => this.#charge(charge, now))
  }

  stream(report: StreamReport): Promise<StreamAnswer> {
    const ledger = (now: number): StreamPayer => ({
      account: () => this.#store.account(),
      usedBefore: () => this.#plans.read()?.usedBefore ?? 0,
      isRevoked: (keyHash) => this.#store.isRevoked(keyHash),
      spend: (charge) => this.#spend({ ...charge, product: 'stream' }, now),
    })
    return this.#decide((now) => this.#streams.take(report, ledger(now), now))
  }

  async termsChanged(): Promise<void> {
    this.#streams.changeTerms()
  }

  async lease(request: LeaseRequest): Promise<LeaseAnswer> {
    const now = Date.now()
    this.#renew(now)
    const decided = this.ctx.storage.transactionSync(() => this.#lease(request, now))
    await this.#wakeAt(now + LEASE_TTL_MS + RECLAIM_GRACE_MS)
    const changedMs = this.#changes.last(request.keyHash, now)
    const answer = changedMs === null ? decided : { ...decided, changedMs }
    if (!answer.ok || request.requests === undefined) return answer
    return { ...answer, requests: this.#requests.take(request.keyHash, request.requests, now) }
  }

  async grantCredits(id: string, amount: MicroCredits): Promise<GrantAnswer> {
    const now = Date.now()
    this.#renew(now)
    return this.ctx.storage.transactionSync(() => this.#grant(id, amount, now))
  }

  async beginPlan(order: PlanOrder): Promise<boolean> {
    if (this.#plans.read() !== null) return false
    await this.changePlan(order)
    return true
  }

  async changePlan(order: PlanOrder): Promise<PlanState> {
    const now = Date.now()
    this.#renew(now)
    for (const amount of [order.firstMicro ?? 0, order.terms.micro]) wholeMicro(amount)
    this.#changes.note(null, now)
    const before = this.#plans.read()
    const decision = decidePlan(this.#store.account(), before, order, now)
    if (decision === null && before !== null) return before
    if (decision === null) throw new Error('an account without a plan takes any')
    this.#turnPeriod(decision)
    if (decision.state.untilMs !== null) await this.#wakeAt(decision.state.untilMs)
    return decision.state
  }

  async plan(): Promise<PlanState | null> {
    this.#renew(Date.now())
    return this.#plans.read()
  }

  async renewWith(plan: string, everyMicro: MicroCredits): Promise<void> {
    this.#renew(Date.now())
    this.#plans.setEvery(plan, wholeMicro(everyMicro))
  }

  async revokeKey(keyHash: string): Promise<void> {
    this.#store.putRevoked(keyHash, Date.now())
  }

  async noteChange(keyHash: string | null): Promise<void> {
    this.#changes.note(keyHash, Date.now())
  }

  async capKey(keyHash: string, cap: MicroCredits | null): Promise<void> {
    this.#caps.put(keyHash, cap === null ? null : wholeMicro(cap))
  }

  async inheritKey(oldHash: string, newHash: string): Promise<void> {
    this.#caps.inherit(oldHash, newHash)
  }

  async balance(): Promise<AccountState> {
    this.#renew(Date.now())
    return this.#store.account()
  }

  async usage(fromMs: number): Promise<readonly UsageRow[]> {
    return this.#store.usage(fromMs)
  }

  async usageByDay(fromMs: number, toMs: number): Promise<readonly DayUsage[]> {
    return this.#store.usageByDay(fromMs, toMs)
  }

  async setWebhook(order: WebhookOrder): Promise<Webhook & { readonly secret: string | null }> {
    return this.#webhooks.set(order, this.#store.account())
  }

  async webhook(): Promise<Webhook | null> {
    return this.#webhooks.view()
  }

  async testWebhook(): Promise<Delivery | null> {
    return this.#webhooks.test()
  }

  async clearWebhook(): Promise<boolean> {
    return this.#webhooks.clear()
  }

  /** Copies usage, ends leases whose isolates went silent, and periods of the plan. Caught and re-armed: an alarm that fails six times is dropped for good. */
  override async alarm(): Promise<void> {
    const now = Date.now()
    this.#alarmAtMs = 0
    this.#webhooks.deliver(now)
    try {
      this.#renew(now)
      this.ctx.storage.transactionSync(() => this.#reclaim(now))
    } catch (error) {
      console.error('renewing the plan or reclaiming leases failed', error instanceof Error ? error.message : '')
      await this.#wakeAt(now + RECLAIM_GRACE_MS)
      return
    }
    const keeper = this.env.GATEWAY as unknown as UsageKeeper
    if (!(await copyUsage(this.ctx, this.#store, keeper))) await this.#wakeAt(now + COPY_EVERY_MS)
    const first = this.#store.firstDeadline()
    if (first !== null) await this.#wakeAt(Math.max(first + RECLAIM_GRACE_MS, now + 1_000))
    else if (this.#store.hasMortalRows() || this.#streams.hasMortalRows()) await this.#wakeAt(now + PRUNE_EVERY_MS)
    if (this.#periodEndMs < Number.POSITIVE_INFINITY) await this.#wakeAt(Math.max(this.#periodEndMs, now + 1_000))
    if (this.#webhooks.nextMs < Number.POSITIVE_INFINITY) await this.#wakeAt(this.#webhooks.nextMs)
  }

  /** Ends a period that is over. Done before every decision: an alarm may be late. */
  #renew(now: number): void {
    if (now < this.#periodEndMs) return
    const state = this.#plans.read()
    const decision = state === null ? null : decideRenewal(this.#store.account(), state, now)
    if (decision !== null) this.#turnPeriod(decision)
  }

  #turnPeriod(decision: PlanDecision): void {
    this.ctx.storage.transactionSync(() => {
      this.#put(decision.events.reduce(evolveAccount, this.#store.account()), true)
      this.#plans.put(decision)
    })
    this.#periodEndMs = decision.state.untilMs ?? Number.POSITIVE_INFINITY
  }

  async #decide<T>(decision: (now: number) => T): Promise<T> {
    const now = Date.now()
    this.#renew(now)
    const answer = this.ctx.storage.transactionSync(() => decision(now))
    await this.#wakeAt(now + COPY_EVERY_MS)
    return answer
  }

  #charge({ id, ...charge }: Charge, now: number): ChargeAnswer {
    if (this.#store.hasCharge(id)) return { v, ok: true, remaining: this.#store.account().available, repeated: true }
    const answer = this.#spend(charge, now)
    if (answer.ok) this.#store.putCharge(id, now)
    return answer
  }

  #spend({ keyHash, amount, product, type }: Omit<Charge, 'id'>, now: number): ChargeAnswer {
    if (this.#store.isRevoked(keyHash)) return { v, ok: false, reason: 'revoked' }
    const account = this.#store.account()
    const event = decideCharge(account, wholeMicro(amount))
    const room = this.#caps.room(keyHash)
    if (event === null || room < amount) {
      return { v, ok: false, reason: 'exhausted', remaining: Math.min(account.available, room) }
    }
    const after = evolveAccount(account, event)
    this.#caps.add(keyHash, amount)
    this.#put(after)
    this.#store.addUsage(keyHash, [{ product, type, calls: 1, amount }], now)
    return { v, ok: true, remaining: after.available, repeated: false }
  }

  #lease(request: LeaseRequest, now: number): LeaseAnswer {
    for (const amount of [request.spent, request.need, request.waiting, request.forecast]) wholeMicro(amount)
    const account = this.#store.account()
    const known = this.#store.lease(request.lease)
    const revoked = this.#store.isRevoked(request.keyHash)
    const room = this.#caps.room(request.keyHash)
    const { events, outcome } = decideLease(account, known?.lease ?? null, request, revoked, now, room)
    const after = events.reduce(evolveAccount, account)
    const lease = events.reduce(evolveLease, known?.lease ?? newLease(request))
    if (events.length > 0) {
      const { added, merged } = mergeUsage(known?.usage ?? [], request.usage)
      this.#put(after)
      this.#store.putLease({ lease, usage: merged })
      this.#store.addUsage(request.keyHash, added, now)
      this.#caps.add(request.keyHash, after.spent - account.spent)
    }
    const remaining = Math.min(after.available, this.#caps.room(request.keyHash))
    if (outcome !== 'ok') return { v, ok: false, reason: outcome, remaining }
    return { v, ok: true, granted: lease.granted, ttlMs: LEASE_TTL_MS, remaining }
  }

  #grant(id: string, amount: MicroCredits, now: number): GrantAnswer {
    const account = this.#store.account()
    const before = this.#store.grantAmount(id)
    if (before !== null) {
      return before === amount ? { v, ok: true, repeated: true, account } : { v, ok: false, reason: 'conflict' }
    }
    const event = decideGrant(account, wholeMicro(amount))
    if (event === null) return { v, ok: false, reason: 'too_large' }
    const after = evolveAccount(account, event)
    this.#put(after)
    this.#store.putGrant(id, amount, now)
    return { v, ok: true, repeated: false, account: after }
  }

  #reclaim(now: number): void {
    for (const { lease, usage } of this.#store.overdue(now - RECLAIM_GRACE_MS)) {
      const event = decideReclaim(lease, now)
      if (event === null) continue
      this.#put(evolveAccount(this.#store.account(), event))
      this.#store.putLease({ lease: evolveLease(lease, event), usage })
    }
    this.#store.prune(now)
    this.#streams.prune(now)
  }

  /** Every change of the balance goes through here, in a transaction. */
  #put(account: AccountState, isNewPeriod = false): void {
    this.#store.putAccount(account)
    this.#webhooks.notice(account, isNewPeriod)
  }

  /** Brings the alarm forward to `atMs`, or to what the webhook waits for; an earlier one stays. */
  async #wakeAt(atMs: number): Promise<void> {
    if (this.#alarmAtMs === 0) this.#alarmAtMs = (await this.ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY
    const firstMs = Math.min(atMs, this.#webhooks.nextMs)
    if (this.#alarmAtMs <= firstMs) return
    this.#alarmAtMs = firstMs
    await this.ctx.storage.setAlarm(firstMs)
  }
}
