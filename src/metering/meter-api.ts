// RPC interface of a CreditMeter (one per account). Types only; credit-meter.do.ts implements it.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import type { AccountState } from './account-state.ts'
import type { AlertsApi } from './alerts/alerts-api.ts'
import type { LeaseMeterApi } from './lease-api.ts'
import type { PipelineMeterApi } from './pipeline-report.ts'
import type { PlanInput, PlanState } from './plans/plan-period.ts'
import type { AccountFacts, Adoption, Difference } from './reconciliation.ts'
import type { LogMeterApi } from './request-log/log-api.ts'
import type { Statement, StatementSums } from './statement.ts'
import type { StreamMeterApi, StreamView } from './streams/stream-api.ts'
import type { TopUpMeterApi } from './top-up-watch.ts'
import type { StackedUsage, UsageLine, UsagePage, UsagePosition, UsageReport } from './usage.ts'
import type { WebhookApi } from './webhooks/webhook-api.ts'

export type GrantResponse =
  /** `repeated`: this grant id was already applied with the same amount. */
  | { readonly v: number; readonly ok: true; readonly repeated: boolean; readonly account: AccountState }
  /** `conflict`: the id was used with a different amount. `too_large`: the sum would exceed exact integers. */
  | { readonly v: number; readonly ok: false; readonly reason: 'conflict' | 'too_large' }

/** A call that was paid for without a key, and the hash under which its usage is counted. */
export interface PaidCall extends Pick<UsageLine, 'product' | 'type'> {
  readonly keyHash: KeyHash
}

/** Meter methods for the operator's surfaces. */
export interface AccountMeterApi {
  /** Adds credits, once per `id`. `call`: charges the same amount for this call in the same transaction. */
  grantCredits(id: string, amount: MicroCredits, call?: PaidCall | null): Promise<GrantResponse>
  /**
   * Revokes a key. Later charges and leases of the key return `revoked`, and pipelines charged to it pause. Idempotent.
   */
  revokeKey(keyHash: KeyHash): Promise<void>
  /**
   * Announces that the D1 record of this key changed (null: the records of all keys). Isolates and relays then reload
   * it.
   */
  noteChange(keyHash: KeyHash | null): Promise<void>
  /** Caps the key's total spending, including earlier spending; null removes the cap. */
  capKey(keyHash: KeyHash, cap: MicroCredits | null): Promise<void>
  /** Sets the key's expiry in Unix ms; null: never. Pipelines charged to the key pause at that time. */
  endKey(keyHash: KeyHash, atMs: number | null): Promise<void>
  /** Replaces the old key with the new one, also for pipelines charged to the old key. Idempotent. */
  replaceKey(oldHash: KeyHash, newHash: KeyHash): Promise<void>
  /** Lets the new key share the cap and spending of its predecessor. Idempotent. */
  inheritKey(oldHash: KeyHash, newHash: KeyHash): Promise<void>
  /** Copies usage to D1 now. Rejects if that fails. */
  copyUsage(): Promise<void>
  /** Differences from D1. With `apply`, those that this side can repair are repaired. */
  reconcile(d1: AccountFacts, apply: boolean): Promise<readonly Difference[]>
  /**
   * Takes over an exported account if this one is empty. Otherwise it changes nothing, and returns whether it did so
   * before.
   */
  adopt(exported: Adoption): Promise<boolean>
  balance(keyHash?: KeyHash): Promise<AccountBalance>
  /** Starts a plan for an account that has no plan. Otherwise it returns false and changes nothing. */
  beginPlan(order: PlanInput): Promise<boolean>
  /** Switches to this plan now and records the change. The same plan with the same terms grants nothing again. */
  changePlan(order: PlanInput): Promise<PlanState>
  /**
   * Sets the credits of this plan's later periods; the current period does not change. Has no effect if the account has
   * a different plan. Idempotent.
   */
  renewWith(plan: string, everyMicro: MicroCredits): Promise<void>
  /** Null for accounts that were created before plan periods existed. */
  plan(): Promise<PlanState | null>
  /** Usage of one key or all keys, from `fromMs` up to but excluding `toMs`. */
  usage(fromMs: number, toMs: number, keyHash?: KeyHash): Promise<UsageReport>
  /** Cost of each whole UTC day; finished days are cached. */
  spentByDay(days: readonly number[]): Promise<readonly MicroCredits[]>
  /** The same hours by day, key and type: at most `limit` rows after the cursor, from the start if null. */
  usagePage(fromMs: number, toMs: number, after: UsagePosition | null, limit: number): Promise<UsagePage>
  /** The same hours by day: the 40 keys or types with the highest total, and the sum of all others. */
  usageStack(fromMs: number, toMs: number, by: 'key' | 'type'): Promise<readonly StackedUsage[]>
  /**
   * For each key, in the given order: its spending since `fromMs`, and what it may still spend under its cap (null: no
   * cap).
   */
  keySums(keyHashes: readonly string[], fromMs: number): Promise<readonly KeySums[]>
  /** Credits granted and charged between these whole UTC days. */
  statement(fromMs: number, toMs: number): Promise<Statement>
  /** Sums of each window between two consecutive times. `sinceMs` is the time of the account's first row. */
  statementSums(
    times: readonly number[],
  ): Promise<{ readonly sinceMs: number | null; readonly sums: readonly StatementSums[] }>
  /** Open streams, and the busiest key's requests in the last second, by kind. */
  streams(limit: number): Promise<StreamView & { readonly requests: Readonly<Record<string, number>> }>
}

export interface AccountBalance extends AccountState {
  /** Start of the last hour with usage; null: there is none. */
  readonly lastUsedMs: number | null
  /** Amount the key may still spend under its cap; absent if there is no cap. */
  readonly capLeft?: MicroCredits
}

export interface KeySums {
  readonly spent: MicroCredits
  readonly capLeft: MicroCredits | null
}

/** Full interface of the Durable Object. */
export type MeterApi = LeaseMeterApi &
  AccountMeterApi &
  StreamMeterApi &
  PipelineMeterApi &
  LogMeterApi &
  WebhookApi &
  TopUpMeterApi &
  AlertsApi
