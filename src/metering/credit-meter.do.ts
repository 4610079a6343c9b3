// One object per account, holding its balance. account-ledger.store.ts makes every balance change. Invariant: each
// decision is one synchronous transaction, so a response is sent if and only if it was committed.

import { DurableObject } from 'cloudflare:workers'
import { type MicroCredits, wholeMicro } from '../core/amount.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { counters } from '../core/counters.ts'
import { Egress } from '../core/egress.client.ts'
import { EgressSettings } from '../core/egress.ts'
import { hash32 } from '../core/hash.ts'
import type { AccountId, KeyHash } from '../core/ids.ts'
import { logEvent } from '../core/log.client.ts'
import { migrate } from '../core/migrate.store.ts'
import { gatewayOf } from '../core/objects.client.ts'
import { HOUR_MS } from '../core/time.ts'
import { readVariables } from '../core/variables.ts'
import { AccountLedger, type MeterTables, tablesOf } from './account-ledger.store.ts'
import { remainingOf } from './account-state.ts'
import type { AlertRule } from './alerts/alert-rule.ts'
import { Alerts } from './alerts/alerts.do.ts'
import type {
  AddressRefusal,
  AlertRecord,
  AlertsView,
  NewAddress,
  RuleRefusal,
  StoredRule,
} from './alerts/alerts-api.ts'
import { accountForecast, averagedDays } from './forecast.ts'
import type { LeaseRequest, LeaseResponse } from './lease-api.ts'
import { LEASE_TTL_MS, RECLAIM_GRACE_MS } from './ledger.ts'
import type { MeterStore } from './meter.store.ts'
import type { AccountBalance, GrantResponse, KeySums, MeterApi, PaidCall } from './meter-api.ts'
import { METER_SCHEMA } from './meter-schema.ts'
import type { PipelineReport, PipelineResponse } from './pipeline-report.ts'
import type { PlanInput, PlanState } from './plans/plan-period.ts'
import type { AccountFacts, Adoption, Difference } from './reconciliation.ts'
import { RequestBuckets } from './request-buckets.ts'
import type { LogBatch, LogChunks } from './request-log/log-api.ts'
import { RequestLogSettings } from './request-log/log-settings.ts'
import { RequestLog } from './request-log.store.ts'
import type { Statement } from './statement.ts'
import type { StreamReport, StreamResponse, StreamView } from './streams/stream-api.ts'
import { StreamLedger } from './streams/stream-ledger.ts'
import type { StoppedTopUp } from './top-up-watch.ts'
import { TopUps } from './top-ups.do.ts'
import {
  hourOf,
  nextCopyMs,
  type StackedUsage,
  type UsagePage,
  type UsagePosition,
  type UsageReport,
  type UsageRow,
  type UsageSink,
} from './usage.ts'
import type { Delivery, Webhook, WebhookInput } from './webhooks/webhook-api.ts'
import { Webhooks } from './webhooks/webhooks.do.ts'

/** Interval between prunings while prunable rows exist. */
const PRUNE_EVERY_MS = 3_600_000
/** Meters copy usage at different times within this period, so that D1 is not called by all of them at once. */
const COPY_SPREAD_MS = 120_000
const COPY_RETRY_MS = 60_000
/** Maximum number of keys or types in a chart. */
const STACK_PARTS = 40

export class CreditMeter extends DurableObject<Cloudflare.Env> implements MeterApi {
  readonly #tables: MeterTables
  readonly #webhooks: Webhooks
  readonly #topUps: TopUps
  readonly #alerts: Alerts
  readonly #ledger: AccountLedger
  readonly #streamLedger: StreamLedger
  readonly #requests = new RequestBuckets()
  readonly #log: RequestLog
  readonly #copyDelayMs: number
  #alarmAtMs = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('CreditMeter')
    migrate(ctx.storage, METER_SCHEMA)
    this.#tables = tablesOf(ctx.storage)
    this.#webhooks = new Webhooks(ctx, new Egress(readVariables(EgressSettings, env)), () => gatewayOf(env))
    this.#topUps = new TopUps(
      ctx,
      () => gatewayOf(this.env),
      () => remainingOf(this.#ledger.account()),
    )
    this.#alerts = new Alerts(ctx, this.#tables.store, this.#webhooks, () => gatewayOf(env))
    this.#ledger = new AccountLedger(this.#tables, this.#webhooks, this.#topUps)
    this.#streamLedger = new StreamLedger(this.#tables.streams, this.#ledger)
    const keptMs = readVariables(RequestLogSettings, env).REQUEST_LOG_HOURS * HOUR_MS
    this.#log = new RequestLog(ctx.storage.sql, this.#tables.store, keptMs)
    this.#copyDelayMs = hash32(String(ctx.id)) % COPY_SPREAD_MS
  }

  stream(report: StreamReport): Promise<StreamResponse> {
    return this.#decide((now) => {
      this.#append(report.log, now)
      return this.#streamLedger.apply(report, now)
    }, this.#log.endsInMs(report.log))
  }

  lease(request: LeaseRequest): Promise<LeaseResponse> {
    return this.#decide((now) => {
      this.#append(request.log, now)
      const decided = this.#ledger.lease(request, now)
      const changedMs = this.#tables.changes.last(request.keyHash, now)
      const answer = changedMs === null ? decided : { ...decided, changedMs }
      if (!answer.ok || request.requests === undefined) return answer
      const { bucket, perSecond } = request.requests
      const requests = this.#requests.take(request.keyHash, request.requests, now)
      this.#alerts.countGranted(request.keyHash, bucket, perSecond, requests.granted, now)
      return { ...answer, requests }
    }, LEASE_TTL_MS + RECLAIM_GRACE_MS)
  }

  #append(batch: LogBatch | undefined, now: number): void {
    this.#log.append(batch, now)
    this.#alerts.count(batch, now)
  }

  settlePipeline(report: PipelineReport): Promise<PipelineResponse> {
    return this.#decide((now) => this.#ledger.settlePipeline(report, now))
  }

  grantCredits(id: string, amount: MicroCredits, call: PaidCall | null = null): Promise<GrantResponse> {
    return this.#decide((now) => this.#ledger.grant(id, amount, now, call))
  }

  async beginPlan(order: PlanInput): Promise<boolean> {
    if (this.#tables.plans.read() !== null) return false
    await this.#turnPlan(order)
    return true
  }

  async changePlan(order: PlanInput): Promise<PlanState> {
    await this.noteChange(null)
    return this.#turnPlan(order)
  }

  async plan(): Promise<PlanState | null> {
    this.#renew(Date.now())
    return this.#tables.plans.read()
  }

  async renewWith(plan: string, everyMicro: MicroCredits): Promise<void> {
    this.#renew(Date.now())
    this.#tables.plans.setEvery(plan, wholeMicro(everyMicro))
  }

  async revokeKey(keyHash: KeyHash): Promise<void> {
    this.#tables.store.putRevoked(keyHash, Date.now())
  }

  async noteChange(keyHash: KeyHash | null): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      this.#tables.changes.note(keyHash, Date.now())
      this.#tables.streams.changeTerms()
    })
  }

  async capKey(keyHash: KeyHash, cap: MicroCredits | null): Promise<void> {
    this.#settleUsage()
    this.#tables.caps.put(keyHash, cap === null ? null : wholeMicro(cap))
  }

  async endKey(keyHash: KeyHash, atMs: number | null): Promise<void> {
    this.#tables.ends.put(keyHash, atMs)
  }

  async replaceKey(oldHash: KeyHash, newHash: KeyHash): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      this.#tables.ends.replace(oldHash, newHash)
      this.#alerts.replaceKey(oldHash, newHash)
    })
  }

  async inheritKey(oldHash: KeyHash, newHash: KeyHash): Promise<void> {
    this.#tables.caps.inherit(oldHash, newHash)
  }

  async visitorsWaitMs(perHour: MicroCredits, amount: MicroCredits): Promise<number> {
    return this.#tables.visitors.waitMs(wholeMicro(perHour), wholeMicro(amount), Date.now())
  }

  async copyUsage(): Promise<void> {
    const { store } = this.#tables
    if (store.uncopiedMs() === 0) return
    const now = Date.now()
    const before = store.changes()
    await copyRows(store, gatewayOf(this.env))
    store.markCopied(now, before)
  }

  reconcile(d1: AccountFacts, apply: boolean): Promise<readonly Difference[]> {
    return this.#decide((now) => this.#ledger.reconcile(d1, apply, now))
  }

  async adopt(exported: Adoption): Promise<boolean> {
    const isAdopted = await this.#decide((now) => this.#ledger.adopt(exported, now))
    await this.#wakeAt(this.#ledger.periodEndMs)
    return isAdopted
  }

  async balance(keyHash?: KeyHash): Promise<AccountBalance> {
    this.#renew(Date.now())
    const capLeft = keyHash === undefined ? Number.POSITIVE_INFINITY : this.#tables.caps.left(keyHash)
    const lastUsedMs = this.#tables.store.lastUsedMs()
    return { ...this.#ledger.account(), lastUsedMs, ...(Number.isFinite(capLeft) ? { capLeft } : {}) }
  }

  async usage(fromMs: number, toMs: number, keyHash?: KeyHash): Promise<UsageReport> {
    this.#settleUsage()
    return this.#tables.usage.report(fromMs, toMs, keyHash)
  }

  async spentByDay(days: readonly number[]): Promise<readonly MicroCredits[]> {
    this.#settleUsage()
    return this.#tables.usage.spentByDay(days, Date.now())
  }

  async usagePage(fromMs: number, toMs: number, after: UsagePosition | null, limit: number): Promise<UsagePage> {
    this.#settleUsage()
    return this.#tables.usage.page(fromMs, toMs, after, limit)
  }

  async usageStack(fromMs: number, toMs: number, by: 'key' | 'type'): Promise<readonly StackedUsage[]> {
    this.#settleUsage()
    return this.#tables.usage.stacked(fromMs, toMs, by, STACK_PARTS)
  }

  async keySums(keyHashes: readonly KeyHash[], fromMs: number): Promise<readonly KeySums[]> {
    this.#settleUsage()
    const spent = this.#tables.usage.spentBy(keyHashes, fromMs)
    return keyHashes.map((keyHash) => {
      const left = this.#tables.caps.left(keyHash)
      return { spent: spent.get(keyHash) ?? 0, capLeft: Number.isFinite(left) ? left : null }
    })
  }

  async statement(fromMs: number, toMs: number): Promise<Statement> {
    this.#settleUsage()
    this.#renew(Date.now())
    return this.#tables.statements.statement(fromMs, toMs, remainingOf(this.#ledger.account()))
  }

  async statementSums(times: readonly number[]) {
    this.#settleUsage()
    this.#renew(Date.now())
    return {
      sinceMs: this.#tables.statements.since(),
      sums: this.#tables.statements.sums(times, remainingOf(this.#ledger.account())),
    }
  }

  async streams(limit: number): Promise<StreamView & { readonly requests: Readonly<Record<string, number>> }> {
    const now = Date.now()
    return { ...this.#tables.streams.view(now, limit), requests: this.#requests.busiest(now) }
  }

  async requestLog(sinceMs: number, untilMs: number): Promise<LogChunks> {
    return this.#log.read(sinceMs, untilMs, Date.now())
  }

  async setWebhook(order: WebhookInput): Promise<Webhook & { readonly secret: string | null }> {
    const drawn = await this.#webhooks.generateSecret(order.account)
    return this.#decide((now) =>
      this.#webhooks.set(order, drawn, remainingOf(this.#ledger.account()), this.#tables.store.peak(), now),
    )
  }

  watchTopUp(watch: Parameters<TopUps['set']>[0], isNew: boolean): Promise<void> {
    return this.#decide((now) => this.#topUps.set(watch, isNew, now))
  }

  topUpStopped(_account: string, stop: StoppedTopUp): Promise<void> {
    return this.#decide((now) => this.#webhooks.topUpStopped(stop, now))
  }

  async webhook(): Promise<Webhook | null> {
    return this.#webhooks.view()
  }

  async webhookSetter(): Promise<Pick<WebhookInput, 'url' | 'by'> | null> {
    return this.#webhooks.setter()
  }

  async testWebhook(everyMs = 0): Promise<Delivery | null> {
    return this.#webhooks.test(everyMs)
  }

  async clearWebhook(): Promise<boolean> {
    return this.ctx.storage.transactionSync(() => this.#webhooks.clear())
  }

  async alerts(): Promise<AlertsView> {
    return this.#alerts.view()
  }

  putAlertRule(account: AccountId, id: string | null, rule: AlertRule): Promise<StoredRule | RuleRefusal> {
    return this.#decide(() => this.#alerts.put(account, id, rule))
  }

  async removeAlertRule(id: string): Promise<boolean> {
    return this.ctx.storage.transactionSync(() => this.#alerts.removeRule(id))
  }

  async testAlertRule(id: string): Promise<AlertRecord | number | null> {
    const tested = await this.#alerts.test(id)
    // A delivery that failed is retried.
    await this.#wakeAt(Number.POSITIVE_INFINITY)
    return tested
  }

  async addAlertAddress(address: NewAddress): Promise<AddressRefusal | null> {
    return this.ctx.storage.transactionSync(() => this.#alerts.addAddress(address, Date.now()))
  }

  async renewAlertAddress(id: string, token: string): Promise<{ readonly sealed: string } | AddressRefusal> {
    return this.ctx.storage.transactionSync(() => this.#alerts.renewAddress(id, token, Date.now()))
  }

  async confirmAlertAddress(id: string, token: string): Promise<boolean> {
    return this.ctx.storage.transactionSync(() => this.#alerts.confirmAddress(id, token, Date.now()))
  }

  async unsubscribeAlertAddress(id: string): Promise<boolean> {
    return this.ctx.storage.transactionSync(() => this.#alerts.unsubscribe(id))
  }

  async removeAlertAddress(id: string): Promise<boolean> {
    return this.ctx.storage.transactionSync(() => this.#alerts.removeAddress(id, Date.now()))
  }

  override async alarm(): Promise<void> {
    await this.#upkeep()
    reportCounters(this.ctx, this.env)
  }

  /**
   * Copies usage, reclaims the leases of isolates that stopped reporting, and renews the plan. Errors are caught and
   * the alarm is set again: the platform drops an alarm that fails six times.
   */
  async #upkeep(): Promise<void> {
    const now = Date.now()
    this.#alarmAtMs = 0
    this.#webhooks.deliver(now)
    this.#topUps.ask(now)
    this.#alerts.deliver(now)
    try {
      this.#renew(now)
      this.#transact(() => this.#tidy(now), now, this.#creditsEnd(now))
    } catch (error) {
      logEvent('meter_upkeep_failed', { error })
      this.#alerts.pause(now)
      await this.#wakeAt(now + RECLAIM_GRACE_MS)
      return
    }
    await this.#copyUsage(now)
    const first = this.#tables.store.firstDeadline()
    if (first !== null) await this.#wakeAt(Math.max(first + RECLAIM_GRACE_MS, now + 1_000))
    else if (this.#tables.store.hasMortalRows() || this.#tables.streams.hasMortalRows())
      await this.#wakeAt(now + PRUNE_EVERY_MS)
    await this.#wakeAt(Math.max(Math.min(this.#ledger.periodEndMs, this.#log.endMs()), now + 1_000))
  }

  /**
   * Copies usage to D1 if that is due. Never rejects. Invariant: an hour may have changed until its copy is confirmed.
   * Repeating a copy is harmless, because rows contain sums, not differences.
   */
  async #copyUsage(now: number): Promise<void> {
    const { store } = this.#tables
    const changedMs = store.uncopiedMs()
    if (changedMs === 0) return
    if (this.#copyMs(changedMs) > now) return this.#wakeAt(this.#copyMs(changedMs))
    try {
      await this.copyUsage()
    } catch (error) {
      logEvent('usage_copy_failed', { error })
      this.#noteLateCopy(this.#copyMs(changedMs), now)
      return this.#wakeAt(now + COPY_RETRY_MS)
    }
    this.#noteLateCopy(null, now)
    // More changes are likely. Setting the alarm now avoids setting a later one first.
    await this.#wakeAt(this.#copyMs(now))
  }

  /** `dueMs`: when the copy that failed was due; null: none fails. */
  #noteLateCopy(dueMs: number | null, now: number): void {
    counters.setLate('usage_copy_late_seconds', this.ctx.id.toString(), dueMs, now)
  }

  /** Time at which a change is copied. */
  #copyMs(changedMs: number): number {
    return nextCopyMs(changedMs) + this.#copyDelayMs
  }

  /** Makes the usage of this hour visible to reports. */
  #settleUsage(): void {
    this.#tables.store.transact(() => this.#tables.store.settleUsage())
  }

  #tidy(now: number): void {
    this.#tables.store.settleUsage(hourOf(now))
    this.#ledger.reclaim(now)
    this.#tables.store.prune(now)
    this.#tables.streams.prune(now)
    this.#log.tidy(now)
  }

  #renew(now: number): void {
    if (now < this.#ledger.periodEndMs) return
    this.#tables.store.transact(() => this.#ledger.renewPlan(now))
  }

  async #turnPlan(order: PlanInput): Promise<PlanState> {
    const state = await this.#decide((now) => this.#ledger.applyPlan(order, now))
    await this.#wakeAt(this.#ledger.periodEndMs)
    return state
  }

  /** Runs one transaction after renewing the plan, and sets the alarm for at most `wakeInMs` from now. */
  async #decide<T>(decision: (now: number) => T, wakeInMs = Number.POSITIVE_INFINITY): Promise<T> {
    const now = Date.now()
    this.#renew(now)
    const answer = this.#transact(() => decision(now), now)
    const changedMs = this.#tables.store.uncopiedMs()
    // A copy that is overdue has failed, and is retried later.
    const copyMs = changedMs === 0 ? Number.POSITIVE_INFINITY : this.#copyMs(changedMs)
    await this.#wakeAt(Math.min(now + wakeInMs, Math.max(copyMs, now + COPY_RETRY_MS)))
    return answer
  }

  /** One transaction, at the end of which alerts are checked. `endMs`: end of the credits, if it was computed. */
  #transact<T>(decision: () => T, now: number, endMs?: number): T {
    const standing = () => ({ left: remainingOf(this.#ledger.account()), most: this.#tables.store.peak() })
    try {
      return this.#tables.store.transact(() => {
        const answer = decision()
        this.#alerts.check(standing, now, endMs)
        return answer
      })
    } catch (error) {
      this.#alerts.reload()
      throw error
    }
  }

  /** When the credits end at the average rate, infinite if they do not; undefined: no alert needs to know it now. */
  #creditsEnd(now: number): number | undefined {
    if (!this.#alerts.isForecastDue(now)) return undefined
    this.#settleUsage()
    const spent = this.#tables.usage.spentByDay(averagedDays(now), now)
    const { forecast } = accountForecast(this.#ledger.account(), this.#tables.plans.read(), spent, now)
    return forecast.ends ? forecast.atMs : Number.POSITIVE_INFINITY
  }

  /** Moves the alarm forward to `atMs` or to what webhooks, top-ups and alerts need next; an earlier alarm stays. */
  async #wakeAt(atMs: number): Promise<void> {
    if (this.#alarmAtMs === 0) this.#alarmAtMs = (await this.ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY
    const firstMs = Math.min(atMs, this.#webhooks.nextMs, this.#topUps.nextMs, this.#alerts.nextMs)
    if (this.#alarmAtMs <= firstMs) return
    this.#alarmAtMs = firstMs
    await this.ctx.storage.setAlarm(firstMs)
  }
}

const ROWS = 500

/** Copies all rows that may have changed. */
async function copyRows(store: MeterStore, sink: UsageSink): Promise<void> {
  for (let after: UsageRow | null = null; ; ) {
    const rows = store.usageToCopy(after, ROWS)
    if (rows.length > 0) await sink.storeUsage(rows)
    after = rows.at(-1) ?? null
    if (rows.length < ROWS) return
  }
}
