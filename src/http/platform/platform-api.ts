// What endpoints are lent: everything that they reach beside their request. Types alone.

import type * as z from 'zod'
import type { KeyKind } from '../../accounts/format.ts'
import type { KeyChange, KeyName, KeyPosition, KeyRow, Rotation, SignInKey } from '../../accounts/key-row.ts'
import type { StaffLookup, StaffRole, StaffRow } from '../../accounts/staff.ts'
import type { SignedStreamToken } from '../../accounts/stream-token.ts'
import type { BackfillResult, BackfillState } from '../../archive/archive/backfill-api.ts'
import type { BackfillBlock } from '../../archive/archive/backfill-lines.ts'
import type { RetentionApi } from '../../archive/archive/retention.ts'
import type { Exports } from '../../archive/exports/exports-api.ts'
import type { Checkout, CheckoutEvents } from '../../billing/checkout/checkout-api.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import type { Result } from '../../core/result.ts'
import type { AccountState } from '../../metering/account-state.ts'
import type { AccountMeterApi } from '../../metering/meter-api.ts'
import type { AccountTerms, ListedPlan } from '../../metering/plans/plan.ts'
import type { PlanState } from '../../metering/plans/plan-period.ts'
import type { WebhookApi } from '../../metering/webhooks/webhook-api.ts'
import type { NewPipeline, PipelineChange } from '../../pipelines/changes.ts'
import type { PipelineRow } from '../../pipelines/pipeline-row.ts'
import type { SinkLogLine, SinkMinute, SinkStatus, SinkTest } from '../../pipelines/sink-api.ts'
import type { BlockLogApi } from '../../protocol/feed/log-api.ts'
import type { AuditRow } from './audit.ts'
import type { KeyTerms, ListedKey } from './key-shapes.ts'
import type { PlanChange } from './plan-shapes.ts'
import type { Refusal } from './refusal.ts'

export interface Platform {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly plans: Plans
  readonly pipelines: Pipelines
  readonly checkout: Checkout & CheckoutEvents
  readonly staff: Staff
  readonly audit: Audit
  /** Rows of D1 as the schema reads them; what is undefined is bound as null. Every list that is asked for is found by an index. */
  readonly rows: <Row>(schema: z.ZodType<Row>, sql: string, ...values: readonly unknown[]) => Promise<Row[]>
  readonly meterOf: (account: AccountId) => AccountMeterApi & WebhookApi
  readonly log: () => Pick<BlockLogApi, 'reset' | 'status'>
  /** Null where nothing is archived. */
  readonly archive: ArchiveBackfill | null
  /** What removes old parts of the archive. */
  readonly retention: () => RetentionApi
  readonly chain: string
  /** Null where nothing is archived. */
  readonly exports: Exports | null
  /** An info answer, uncharged, in the turn of this account at the sources; null where it cannot be had. */
  readonly read: (request: Readonly<Record<string, unknown>>, account: AccountId) => Promise<string | null>
  /** A stream token, of a holder of its own. */
  readonly sealToken: (token: Omit<SignedStreamToken, 'holder'>) => Promise<Result<string, Failure>>
  /** What a data service behind this chain answers to a path below `/v1/<chain>`, byte for byte; null: there is none. */
  readonly dataService: (chain: string, path: string) => Promise<Result<string, Failure>> | null
  /** What a million credits are sold for, in millionths of a US dollar: MILLION_CREDITS_USD; null: it is not said. */
  readonly millionMicroUsd: number | null
  /** Links of the sign-up in a day; null: it is off. */
  readonly signUpsPerDay: number | null
  /** BOOK_HUBS. */
  readonly hubs: number
  /** What speaks against calling an address of a customer; null: nothing that its text tells. */
  readonly urlRefusal: (url: string) => string | null
  /** TRUST_PROXY: callers' addresses are known. */
  readonly isProxied: boolean
  readonly now: () => number
}

export interface ArchiveBackfill {
  readonly chain: string
  state(after: number): Promise<BackfillState>
  /** The blocks are at least one, in order of height. */
  backfill(blocks: readonly BackfillBlock[]): Promise<BackfillResult>
}

/** A plan with what is agreed with one account. */
export interface PlanChoice {
  readonly plan: string
  readonly terms: AccountTerms
}

/** What an operator sees of an account; `period` is null where it was made before plans had periods. */
interface AccountView extends PlanChoice {
  readonly created: number
  readonly sums: AccountState
  readonly period: PlanState | null
}

/** `repeated`: this grant was made before, and nothing was added now. */
interface GrantResult {
  readonly repeated: boolean
  readonly account: AccountState
}

export interface Accounts {
  /** The refusal of an account that is not there, null where it is. Asked before the meter of an account is, so that a name nobody has makes no object. */
  missingFailure(id: string): Promise<Failure | null>
  /** Creates the account with its first credits (the plan's, unless given); an existing one is left as it is. */
  ensure(
    id: string,
    choice: PlanChoice,
    credits?: MicroCredits,
  ): Promise<Result<{ readonly created: boolean; readonly account: AccountState }, Failure>>
  /** The account, its sums and its plan's period. */
  account(id: string): Promise<Result<AccountView, Failure>>
  /** Puts the account on a plan now: what the old one has left expires, the new one's credits are there in full. */
  changePlan(id: string, choice: PlanChoice): Promise<Result<PlanState, Failure>>
  /** Adds credits once per `id`; the same id with another amount is refused. */
  grant(account: AccountId, id: string, micro: MicroCredits): Promise<Result<GrantResult, Refusal>>
}

export interface KeyInput extends KeyTerms {
  /** Left out: a new account with `plan`, `terms` and `credits`. */
  readonly account?: AccountId | undefined
  readonly credits?: MicroCredits | undefined
  readonly plan?: string | undefined
  readonly terms?: AccountTerms | undefined
}

/** What an owner orders for the account of the key that asks; `request`: an idempotency key. */
export interface OwnKeyInput extends KeyTerms {
  readonly account: AccountId
  readonly request: string | null
  /** Root of the key that orders it; left out: no key does. */
  readonly maker?: string
}

/** A key with what it spent in thirty days, and what its cap leaves; null where its meter did not answer, or has no cap. */
export type OwnKeyRow = KeyRow & { readonly spent: MicroCredits | null; readonly capLeft: MicroCredits | null }

export interface IssuedKey {
  /** Shown this once: only its hash is kept. */
  readonly key: string
  readonly hash: KeyHash
  readonly prefix: string
  readonly account: AccountId
  readonly kind: KeyKind
  readonly label: string
}

/** `id`: an idempotency key, if one was sent. `maker`: root of the key that orders it; left out: no key does. */
export type RotationInput = Pick<Rotation, 'id' | 'graceMs'> & { readonly maker?: string }

/** Without `key` where the rotation was done before. */
export type RotatedKey = (IssuedKey | Omit<IssuedKey, 'key'>) & { readonly oldEndsMs: number }

/** A key by its hash or its shown prefix; where an account is named, one of another account is none. */
export interface KeyRef {
  readonly name: string
  readonly account?: AccountId | undefined
}

export interface Keys {
  create(order: KeyInput): Promise<Result<IssuedKey, Failure>>
  /** Labels, restricts or lets expire; isolates know it within a minute. */
  change(key: KeyRef, change: KeyChange): Promise<Result<KeyRow, Failure>>
  /** A new key like the old one, in whose cap it shares; the old one works for the grace more at most. Once per key. */
  rotate(key: KeyRef, order: RotationInput): Promise<Result<RotatedKey, Refusal>>
  /** Revokes by hash or shown prefix; again is the same. */
  revoke(key: KeyRef): Promise<Result<KeyRow & { readonly revoked: number }, Failure>>
  /** Of one account or of all, newest first, from the first or those that come after this one. */
  list(account: AccountId | undefined, limit: number, after?: KeyPosition): Promise<ListedKey[]>
  /** As the account's owner orders it; without `key` where the same request made it before. */
  createOwn(order: OwnKeyInput): Promise<Result<IssuedKey | Omit<IssuedKey, 'key'>, Refusal>>
  /** Of one account, newest first, at most `limit` after this place. */
  page(account: AccountId, after: KeyPosition | null, limit: number): Promise<readonly OwnKeyRow[]>
  /** Of one account, those that count for how many it may have. */
  count(account: AccountId): Promise<number>
  /** A key of this label that an account is managed with, and how many there ever were of each kind. */
  signUpKeys(account: AccountId, label: string): Promise<SignInKey>
  /** Keys that work and were made by this one's chain of rotations, or by such keys; newest first, bounded. */
  createdBy(key: Pick<KeyRow, 'hash' | 'root'>): Promise<readonly KeyName[]>
  /** What people call the keys with these hashes. */
  namesByHash(hashes: readonly KeyHash[]): Promise<ReadonlyMap<string, Pick<KeyRow, 'prefix' | 'label'>>>
  find(key: KeyRef): Promise<Result<KeyRow, Failure>>
  /** The key with this hash. */
  findByHash(hash: KeyHash): Promise<KeyRow | null>
}

/** How far `apply` came; `next` is null at the end. */
interface ApplyProgress {
  readonly told: number
  readonly next: string | null
}

export interface Plans {
  list(): Promise<ListedPlan[]>
  /** Adds a plan or changes one. New accounts have it at once; those on it as `apply` tells them. */
  set(name: string, change: PlanChange): Promise<Result<ListedPlan, Refusal>>
  remove(name: string): Promise<Result<void, Refusal>>
  /**
   * Tells ten accounts on the plan what it gives now: credits from their next period on, limits at once. Goes on after
   * the account `after`; again is the same.
   */
  apply(name: string, after: string): Promise<Result<ApplyProgress, Failure>>
}

/** The key that calls. */
export interface PipelineCaller {
  readonly account: AccountId
  readonly keyHash: KeyHash
}

/** A pipeline of another account does not exist, and one that the caller may not touch is refused. */
export interface PipelineRef extends PipelineCaller {
  readonly id: string
}

/** What ends with a key, or was set by it: each pipeline of the account that it concerns. */
export interface Reach {
  readonly row: PipelineRow
  /** It is charged to this key, or to one of its chain of rotations: it pauses when that chain ends. */
  readonly isCharged: boolean
  /** This key, or one of its chain, set where its rows go. */
  readonly hasSetDestination: boolean
}

/** `inStep`: its object is known to have what the record says. `status` null: it did not answer. */
export interface PipelineState {
  readonly row: PipelineRow
  readonly inSync: boolean
  readonly status: SinkStatus | null
}

/** Each that names one tells its object of the record first, where that is not known to have it. */
export interface Pipelines {
  create(caller: PipelineCaller, order: NewPipeline): Promise<Result<PipelineRow, Refusal>>
  /** Those that the caller may touch, newest first. */
  page(caller: PipelineCaller, from: number, limit: number): Promise<{ rows: readonly PipelineRow[]; total: number }>
  /** Of the account, whoever may touch them. */
  count(account: AccountId): Promise<number>
  show(name: PipelineRef): Promise<Result<PipelineRow, Refusal>>
  /** Refused with `unavailable` where the record has the change and its object could not be told: again is the same. */
  change(name: PipelineRef, change: PipelineChange): Promise<Result<PipelineRow, Refusal>>
  /** From now on it is charged to the caller; one that was paused because its key ended goes on. */
  adopt(name: PipelineRef): Promise<Result<PipelineRow, Refusal>>
  reach(key: Pick<KeyRow, 'account' | 'hash' | 'root'>): Promise<readonly Reach[]>
  /** Likewise: it is gone at once, and what its object has when that could be told. */
  remove(name: PipelineRef): Promise<Result<void, Refusal>>
  state(name: PipelineRef): Promise<Result<PipelineState, Refusal>>
  logs(name: PipelineRef, before: number | null, limit: number): Promise<Result<readonly SinkLogLine[], Refusal>>
  metrics(name: PipelineRef, minutes: number): Promise<Result<readonly SinkMinute[], Refusal>>
  /** Of the pipeline as the change would make it. */
  test(name: PipelineRef, change: PipelineChange): Promise<Result<SinkTest, Refusal>>
  redeliver(name: PipelineRef): Promise<Result<number, Refusal>>
}

interface Staff extends StaffLookup {
  /** The token, shown this once; null, and nothing done, where somebody of this name has one. */
  add(name: string, role: StaffRole, nowMs: number): Promise<string | null>
  /** Newest first. */
  list(): Promise<readonly StaffRow[]>
  /** False where nobody of this name has a token. */
  revoke(name: string, nowMs: number): Promise<boolean>
}

export interface Audit {
  /** Its number. Rejects where it could not be written: then nothing must be done. */
  start(row: AuditRow, nowMs: number): Promise<number>
  finish(number: number, status: number, account: AccountId | null, nowMs: number): Promise<void>
}
