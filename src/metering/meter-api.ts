// What a CreditMeter (one per account) answers over RPC. Types alone: the shell is credit-meter.do.ts.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import type { AccountState } from './account-state.ts'
import type { LeaseMeterApi } from './lease-api.ts'
import type { PipelineMeterApi } from './pipeline-report.ts'
import type { PlanInput, PlanState } from './plans/plan-period.ts'
import type { Statement, StatementSums } from './statement.ts'
import type { StreamMeterApi, StreamView } from './streams/stream-api.ts'
import type { StackedUsage, UsagePage, UsagePosition, UsageReport } from './usage.ts'
import type { WebhookApi } from './webhooks/webhook-api.ts'

export type GrantResponse =
  /** `repeated`: this grant id had taken effect before with the same amount. */
  | { readonly v: number; readonly ok: true; readonly repeated: boolean; readonly account: AccountState }
  /** `conflict`: the id was used with another amount. `too_large`: the sum would leave exact integers. */
  | { readonly v: number; readonly ok: false; readonly reason: 'conflict' | 'too_large' }

/** What the operator's surfaces ask of a meter. */
export interface AccountMeterApi {
  /** Adds credits, once per `id`. */
  grantCredits(id: string, amount: MicroCredits): Promise<GrantResponse>
  /** From now on every charge and lease of this key answers `revoked`, and pipelines that are charged to it pause. Idempotent. */
  revokeKey(keyHash: KeyHash): Promise<void>
  /** What D1 says of this key (null: of all) has changed: isolates and relays hear it and look callers up anew. */
  noteChange(keyHash: KeyHash | null): Promise<void>
  /** Bounds what a key may spend in all, what it spent before included; null: as much as the account has. */
  capKey(keyHash: KeyHash, cap: MicroCredits | null): Promise<void>
  /** When this key ends, Unix ms; null: never. Pipelines that are charged to it pause then. */
  endKey(keyHash: KeyHash, atMs: number | null): Promise<void>
  /** The new key has replaced the old one: it carries on pipelines that are charged to that. Idempotent. */
  replaceKey(oldHash: KeyHash, newHash: KeyHash): Promise<void>
  /** The new key shares the cap of the one that it replaces, and what was spent under it. Idempotent. */
  inheritKey(oldHash: KeyHash, newHash: KeyHash): Promise<void>
  /** `capLeft`: what the cap of the key that was named lets it still spend; not there without one. */
  balance(keyHash?: KeyHash): Promise<AccountState & { readonly capLeft?: MicroCredits }>
  /** Begins a plan for an account that has none; false, and nothing done, where it has one. */
  beginPlan(order: PlanInput): Promise<boolean>
  /** Puts the account on this plan now, and notes the change. The same plan with the same terms gives nothing again. */
  changePlan(order: PlanInput): Promise<PlanState>
  /** What later periods of this plan give; the running one stays. Nothing happens on another plan. Idempotent. */
  renewWith(plan: string, everyMicro: MicroCredits): Promise<void>
  /** Null for an account that was made before plans had periods. */
  plan(): Promise<PlanState | null>
  /** Sums of hours from `fromMs` and before `toMs`, of one key or of all. */
  usage(fromMs: number, toMs: number, keyHash?: KeyHash): Promise<UsageReport>
  /** What each of these whole UTC days cost; of those that are over it is remembered. */
  spentByDay(days: readonly number[]): Promise<readonly MicroCredits[]>
  /** The same hours per day, key and type: at most `limit` rows after this place, from the first where it is null. */
  usagePage(fromMs: number, toMs: number, after: UsagePosition | null, limit: number): Promise<UsagePage>
  /** The same hours per day, of each the keys or types that spent most in all (40) and the others together. */
  usageStack(fromMs: number, toMs: number, by: 'key' | 'type'): Promise<readonly StackedUsage[]>
  /** In the order of these keys: what each spent from `fromMs` on, and what its cap leaves (null: no cap). */
  keySums(keyHashes: readonly string[], fromMs: number): Promise<readonly KeySums[]>
  /** What the account was given and charged between these whole UTC days. */
  statement(fromMs: number, toMs: number): Promise<Statement>
  /** The sums alone, between each two of these times; of fewer where the account is younger. */
  statementSums(
    times: readonly number[],
  ): Promise<{ readonly sinceMs: number | null; readonly sums: readonly StatementSums[] }>
  /** What it has open, and its busiest key's requests of the last second by kind. */
  streams(limit: number): Promise<StreamView & { readonly requests: Readonly<Record<string, number>> }>
}

export interface KeySums {
  readonly spent: MicroCredits
  readonly capLeft: MicroCredits | null
}

/** Everything that the Durable Object answers. */
export type MeterApi = LeaseMeterApi & AccountMeterApi & StreamMeterApi & PipelineMeterApi & WebhookApi
