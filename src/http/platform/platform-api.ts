// Interfaces of everything that endpoints use in addition to their request.

import type * as z from 'zod'
import type { ExportedAccount } from '../../accounts/exported-account.ts'
import type { KeyKind } from '../../accounts/format.ts'
import type { KeyChange, KeyName, KeyPosition, KeyRow, Rotation, SignInKey } from '../../accounts/key-row.ts'
import type { MemberRole, MemberRow, TeamActor, TeamEventRow } from '../../accounts/members.ts'
import type { ListedSession, SessionScope } from '../../accounts/sessions/session.ts'
import type { StaffLookup, StaffRole, StaffRow } from '../../accounts/staff.ts'
import type { SignedStreamToken } from '../../accounts/stream-token.ts'
import type {
  AttemptReport,
  BackfillRequest,
  BackfillResult,
  BackfillState,
  CheckpointFile,
  UploadResult,
} from '../../archive/archive/backfill-api.ts'
import type { RetentionApi } from '../../archive/archive/retention.ts'
import type { Exports } from '../../archive/exports/exports-api.ts'
import type { Billing } from '../../billing/checkout/billing-details.ts'
import type { Checkout, CheckoutEvents } from '../../billing/checkout/checkout-api.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import type { Result } from '../../core/result.ts'
import type { AccountState } from '../../metering/account-state.ts'
import type { AlertsApi, NewAddress } from '../../metering/alerts/alerts-api.ts'
import type { AccountMeterApi, PaidCall } from '../../metering/meter-api.ts'
import type { AccountTerms, ListedPlan, Plan } from '../../metering/plans/plan.ts'
import type { PlanState } from '../../metering/plans/plan-period.ts'
import type { Difference } from '../../metering/reconciliation.ts'
import type { LogMeterApi } from '../../metering/request-log/log-api.ts'
import type { WebhookApi } from '../../metering/webhooks/webhook-api.ts'
import type { Component } from '../../monitor/availability.ts'
import type { IncidentKind, IncidentState } from '../../monitor/incident-states.ts'
import type { Incident } from '../../monitor/incidents.ts'
import type { MonitorApi } from '../../monitor/monitor-api.ts'
import type { HeightRange } from '../../pipelines/backfill.ts'
import type { NewPipeline, PipelineChange, PipelinePreview } from '../../pipelines/changes.ts'
import type { ExportedPipeline } from '../../pipelines/exported-pipeline.ts'
import type { PipelineRow } from '../../pipelines/pipeline-row.ts'
import type {
  SinkLogLine,
  SinkMinute,
  SinkPreview,
  SinkStatus,
  SinkSurvey,
  SinkTest,
} from '../../pipelines/sink-api.ts'
import type { BlockLogApi, StatusCacheApi } from '../../protocol/feed/log-api.ts'
import type { SourcesStatus } from '../../protocol/feed/sources-shape.ts'
import type { AuditRow } from './audit.ts'
import type { KeyTerms, ListedKey, UsedKey } from './key-shapes.ts'
import type { PlanChange } from './plan-shapes.ts'
import type { Refusal } from './refusal.ts'

type Rows = <Row>(schema: z.ZodType<Row>, sql: string, ...values: readonly unknown[]) => Promise<Row[]>

export interface Platform {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly members: Members
  readonly sessions: Sessions
  readonly plans: Plans
  readonly pipelines: Pipelines
  readonly checkout: Checkout & CheckoutEvents
  readonly billing: Billing
  readonly staff: Staff
  readonly recovery: Recovery
  readonly moves: PipelineMoves
  readonly audit: Audit
  readonly incidents: Incidents
  /** Queries D1 ACCOUNTS, parses the rows and binds undefined values as null. Every list query must use an index. */
  readonly rows: Rows
  /** The same for D1 USAGE. */
  readonly usageRows: Rows
  readonly meterOf: (account: AccountId) => AccountMeterApi & LogMeterApi & WebhookApi & AlertsApi
  readonly alertMails: AlertAddresses
  readonly log: () => Pick<BlockLogApi, 'reset'>
  readonly logStatus: StatusCacheApi['status']
  readonly monitor: () => Pick<MonitorApi, 'scrape' | 'figures' | 'alerts' | 'testAlert'>
  /** Whether gateway isolates report their counters to the Monitor. */
  readonly isCounted: boolean
  readonly sources: () => Promise<SourcesStatus>
  /** Null if there is no archive. */
  readonly archive: ArchiveBackfill | null
  /** Removes expired files from the archive. */
  /** Null on a gateway without the jobs Worker. */
  readonly retention: (() => RetentionApi) | null
  readonly chain: string
  /** Null if there is no archive. */
  readonly exports: Exports | null
  /** An uncharged info response, queued at the sources under this account; null if unavailable. */
  readonly read: (request: Readonly<Record<string, unknown>>, account: AccountId) => Promise<string | null>
  /** Seals a stream token for a new holder. */
  readonly sealToken: (token: Omit<SignedStreamToken, 'holder'>) => Promise<Result<string, Failure>>
  /** Unmodified response of the chain's data service to a path below `/v1/<chain>`; null: no such service. */
  readonly dataService: (chain: string, path: string) => Promise<Result<string, Failure>> | null
  /** Price of a million credits in millionths of a US dollar (MILLION_CREDITS_USD); null: not set. */
  readonly millionMicroUsd: number | null
  /** Sign-up links per day; null: sign-up is off. */
  readonly signUpsPerDay: number | null
  /** Number of book hubs (BOOK_HUBS). */
  readonly hubs: number
  /** Why a customer URL is not allowed; null: nothing is wrong with the URL itself. */
  readonly urlRefusal: (url: string) => string | null
  /** TRUST_PROXY: client addresses are known. */
  readonly isProxied: boolean
  readonly now: () => number
  /** Runs work in steps, with other work in between (core/timers.client.ts). */
  readonly inTurns: <T>(work: Generator<number, T>) => Promise<T>
}

/** Addresses for alerts, which only the gateway can encrypt, decrypt and write to. */
interface AlertAddresses {
  /** Whether this gateway sends e-mails. */
  readonly isOn: boolean
  /** A token for another confirmation link, and its hash. */
  newToken(account: AccountId, id: string): Promise<{ readonly token: string; readonly hash: string }>
  /** `base`: normalized form of the address. `token`: of the confirmation link. */
  newAddress(
    account: AccountId,
    address: string,
    base: string,
  ): Promise<{ readonly stored: NewAddress; readonly token: string }>
  /** Null if it cannot be decrypted, because the operator changed KEY_SECRET. */
  open(account: AccountId, id: string, sealed: string): Promise<string | null>
  /** Sends the confirmation link. False: the mail was not accepted. */
  confirm(account: AccountId, id: string, to: string, token: string): Promise<boolean>
}

/** The next few accounts after a cursor. */
export interface RecoveryPage<T> {
  readonly done: readonly T[]
  readonly failed: readonly AccountId[]
  readonly next: AccountId | null
}

export interface Recovery {
  reconcile(
    after: string,
    apply: boolean,
  ): Promise<RecoveryPage<{ readonly account: AccountId; readonly differences: readonly Difference[] }>>
  export(after: string): Promise<RecoveryPage<ExportedAccount>>
  /** False: another account with this name exists. `region`: where a new meter is created. */
  import(account: ExportedAccount, region: string | null): Promise<Result<boolean, Refusal>>
}

export interface PipelineMoves {
  /** The next few pipelines after an id. `failed`: ids whose objects did not respond. */
  export(after: string): Promise<{
    readonly done: readonly ExportedPipeline[]
    readonly failed: readonly string[]
    readonly next: string | null
  }>
  /** The same on gateways with the same KEY_SECRET; null: there is none. */
  keySecretHash(): Promise<string | null>
  /** False: another pipeline with this id exists. */
  import(pipeline: ExportedPipeline): Promise<Result<boolean, Refusal>>
}

interface ArchiveBackfill {
  readonly chain: string
  state(after: number): Promise<BackfillState>
  /** The blocks are ordered by height, and there is at least one. */
  backfill(request: Omit<BackfillRequest, 'v'>): Promise<BackfillResult>
  /** Stores the file of all books after a block that is not archived. */
  uploadCheckpoint(file: CheckpointFile, chunks: AsyncIterable<Uint8Array>): Promise<UploadResult>
  /** Records that a source could not fill a gap. False: the heights are not exactly a gap. */
  recordAttempt(attempt: AttemptReport): Promise<boolean>
}

/** A plan and the terms of one account. */
export interface PlanChoice {
  readonly plan: string
  readonly terms: AccountTerms
}

/** Operator's view of an account; `period` is null for accounts that predate plan periods. */
interface AccountView extends PlanChoice {
  readonly created: number
  readonly sums: AccountState
  readonly period: PlanState | null
}

/** `repeated`: an earlier call already made this grant. */
interface GrantResult {
  readonly repeated: boolean
  readonly account: AccountState
}

/** How a new account starts. */
export interface AccountOpening {
  /** First credits, instead of the plan's. */
  readonly credits?: MicroCredits | undefined
  /** Location hint of the account's meter, which never moves. Absent: FEED_REGION. */
  readonly region?: string | null | undefined
}

export interface Accounts {
  /**
   * Failure if the account does not exist, else null. Must be checked before calling a meter, so that unknown names
   * create no object.
   */
  missingFailure(id: string): Promise<Failure | null>
  /** Creates the account with its meter; an existing account stays unchanged. */
  ensure(
    id: string,
    choice: PlanChoice,
    opening?: AccountOpening,
  ): Promise<Result<{ readonly created: boolean; readonly account: AccountState }, Failure>>
  /** The same for an account that never gets credits of its plan, only its limits. */
  ensurePrepaid(id: AccountId, plan: string, region: string | null): Promise<Result<unknown, Failure>>
  /** Account, sums and current plan period. */
  account(id: string): Promise<Result<AccountView, Failure>>
  /**
   * Moves the account to a plan immediately: remaining credits of the old plan expire, those of the new plan are
   * granted in full.
   */
  changePlan(id: string, choice: PlanChoice): Promise<Result<PlanState, Failure>>
  /**
   * Adds credits once per `id`; the same id with a different amount is rejected. `call`: charges the same amount for
   * this call in the same transaction.
   */
  grant(
    account: AccountId,
    id: string,
    micro: MicroCredits,
    call?: PaidCall | null,
  ): Promise<Result<GrantResult, Refusal>>
}

export interface KeyInput extends KeyTerms, AccountOpening {
  /** Absent: creates an account with the other fields. */
  readonly account?: AccountId | undefined
  readonly plan?: string | undefined
  readonly terms?: AccountTerms | undefined
}

/** Input for a key of the caller's account; `request`: idempotency key. */
export interface OwnKeyInput extends KeyTerms {
  readonly account: AccountId
  readonly request: string | null
  /** Root of the creating key; absent: not created by a key. */
  readonly maker?: string
}

/**
 * A key with its spending in 30 days and its remaining cap. Both are null if the meter did not respond; `capLeft` is
 * also null without a cap.
 */
export type OwnKeyRow = UsedKey & { readonly spent: MicroCredits | null; readonly capLeft: MicroCredits | null }

export interface IssuedKey {
  /** Shown only once; only the hash is stored. */
  readonly key: string
  readonly hash: KeyHash
  readonly prefix: string
  readonly account: AccountId
  readonly kind: KeyKind
  readonly label: string
}

/** `id`: idempotency key, if sent. `maker`: root of the key that requests the rotation; absent: the operator. */
export type RotationInput = Pick<Rotation, 'id' | 'graceMs'> & { readonly maker?: string }

/** `key` is absent if an earlier call already rotated the old key. */
export type RotatedKey = (IssuedKey | Omit<IssuedKey, 'key'>) & { readonly oldEndsMs: number }

/** Reference to a key by hash or visible prefix; with `account`, keys of other accounts are not found. */
export interface KeyRef {
  readonly name: string
  readonly account?: AccountId | undefined
}

export interface Keys {
  create(order: KeyInput): Promise<Result<IssuedKey, Failure>>
  /** Changes label, restrictions or expiry; isolates see it within a minute. */
  change(key: KeyRef, change: KeyChange): Promise<Result<UsedKey, Failure>>
  /**
   * Replaces a key with a new one that shares its cap; the old key works until the grace period ends. Each key can be
   * replaced once.
   */
  rotate(key: KeyRef, order: RotationInput): Promise<Result<RotatedKey, Refusal>>
  /** Revokes by hash or visible prefix; idempotent. */
  revoke(key: KeyRef): Promise<Result<KeyRow & { readonly revoked: number }, Failure>>
  /** Keys of one account or all, newest first, after the cursor. */
  list(account: AccountId | undefined, limit: number, after?: KeyPosition): Promise<ListedKey[]>
  /** Creates a key for the owner; `key` is absent if the same request already created it. */
  createOwn(order: OwnKeyInput): Promise<Result<IssuedKey | Omit<IssuedKey, 'key'>, Refusal>>
  /** Keys of one account, newest first, after the cursor. */
  page(account: AccountId, after: KeyPosition | null, limit: number): Promise<readonly OwnKeyRow[]>
  /** Number of keys that count toward the account's limit. */
  count(account: AccountId): Promise<number>
  /** The sign-up service key with this label, and the number of keys ever created by kind. */
  signUpKeys(account: AccountId, label: string): Promise<SignInKey>
  /** Active keys that this key's rotation chain created, directly or through other keys, newest first, bounded. */
  createdBy(key: Pick<KeyRow, 'hash' | 'root'>): Promise<readonly KeyName[]>
  /** Prefix and label of the keys with these hashes. */
  namesByHash(hashes: readonly KeyHash[]): Promise<ReadonlyMap<string, Pick<KeyRow, 'prefix' | 'label'>>>
  find(key: KeyRef): Promise<Result<KeyRow, Failure>>
  /** The key with this hash. */
  findByHash(hash: KeyHash): Promise<KeyRow | null>
}

/** A member or a pending invitation. `email` is empty if KEY_SECRET changed since. */
export type Member = Omit<MemberRow, 'sealed'> & { readonly email: string }

interface MemberRef {
  readonly account: AccountId
  readonly id: string
  readonly by: TeamActor
}

export interface InvitationInput extends Omit<MemberRef, 'id'> {
  readonly email: string
  readonly role: MemberRole
  /** Origin of the request, for the link if the gateway has no public URL. */
  readonly origin: string
}

export interface Members {
  /** How invitations are delivered; null: members cannot be invited. */
  readonly delivery: 'mail' | 'log' | null
  /** Oldest first. */
  list(account: AccountId): Promise<readonly Member[]>
  invite(input: InvitationInput): Promise<Result<Member, Refusal>>
  inviteAgain(input: MemberRef & Pick<InvitationInput, 'origin'>): Promise<Result<Member, Refusal>>
  changeRole(input: MemberRef & Pick<InvitationInput, 'role'>): Promise<Result<Member, Refusal>>
  /** Removes a member, or revokes an invitation. */
  remove(ref: MemberRef): Promise<Result<Member, Refusal>>
  /** Newest first. */
  events(account: AccountId, before: number, limit: number): Promise<readonly TeamEventRow[]>
  /** Addresses by id, of removed members too. */
  emails(account: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** Console sessions of accounts. */
interface Sessions {
  list(scope: SessionScope): Promise<readonly ListedSession[]>
  /** False: no such session. */
  end(scope: SessionScope, id: string, by: TeamActor): Promise<boolean>
  /** Number of ended sessions. `except`: id of a session. */
  endOthers(scope: SessionScope, except: string | null, by: TeamActor): Promise<number>
}

/** Progress of `apply`; `next` is null at the end. */
interface ApplyProgress {
  readonly told: number
  readonly next: string | null
}

export interface Plans {
  list(): Promise<ListedPlan[]>
  /** Those of these plans that exist. */
  existing(names: readonly string[]): Promise<Plan[]>
  /** Adds or changes a plan. New accounts get it immediately, existing accounts through `apply`. */
  set(name: string, change: PlanChange): Promise<Result<ListedPlan, Refusal>>
  remove(name: string): Promise<Result<void, Refusal>>
  /** Applies the plan to ten accounts after `after`: limits change immediately, credits starting with the next period. Idempotent.
   */
  apply(name: string, after: string): Promise<Result<ApplyProgress, Failure>>
}

/** The calling key. */
export interface PipelineCaller {
  readonly account: AccountId
  readonly keyHash: KeyHash
}

/** Reference to a pipeline. Pipelines of other accounts are not found; inaccessible ones are rejected. */
export interface PipelineRef extends PipelineCaller {
  readonly id: string
}

/** A pipeline affected by a key. */
export interface Reach {
  readonly row: PipelineRow
  /** Whether the pipeline is charged to this key or its rotation chain. Such a pipeline pauses when the chain ends. */
  readonly isCharged: boolean
  /** Whether this key or its rotation chain set the destination. */
  readonly hasSetDestination: boolean
}

/** `inSync`: whether the Sink is known to have the recorded state. `status` is null if the Sink did not respond. */
export interface PipelineState {
  readonly row: PipelineRow
  readonly inSync: boolean
  readonly status: SinkStatus | null
}

/** A range of past blocks: positions as in `execution_start_from`; `redeliver` includes what was delivered before. */
export interface BackfillOrder {
  readonly from: string
  readonly to: string
  readonly redeliver: boolean
  readonly idempotency_key?: string | undefined
}

/** `status`: of the pipeline whose past rows are delivered. `estimate` is null if it was not asked for. */
export interface BackfillPlan {
  readonly range: HeightRange
  readonly estimate: SinkSurvey['estimate']
  readonly status: SinkStatus
}

/** `row`: the backfill; null: there is none. `backfilled`: delivered by earlier ones. `hasPast`: past rows are stored. */
export interface PipelineBackfill {
  readonly hasPast: boolean
  readonly row: PipelineRow | null
  readonly status: SinkStatus | null
  readonly backfilled: readonly HeightRange[]
}

export type OrderedBackfill = PipelineBackfill & { readonly row: PipelineRow }

/** Every call on a pipeline first syncs the record to its Sink if needed. */
export interface Pipelines {
  create(caller: PipelineCaller, order: NewPipeline): Promise<Result<PipelineRow, Refusal>>
  /** Pipelines that the caller can access, newest first. */
  page(caller: PipelineCaller, from: number, limit: number): Promise<{ rows: readonly PipelineRow[]; total: number }>
  /** Number of pipelines of the account. */
  count(account: AccountId): Promise<number>
  show(name: PipelineRef): Promise<Result<PipelineRow, Refusal>>
  /** Fails with `unavailable` if the change is recorded but not synced to the Sink; safe to retry. */
  change(name: PipelineRef, change: PipelineChange): Promise<Result<PipelineRow, Refusal>>
  /**
   * Charges the pipeline to the caller, starting now. Resumes it if it was paused because its key was revoked or
   * expired.
   */
  adopt(name: PipelineRef): Promise<Result<PipelineRow, Refusal>>
  reach(key: Pick<KeyRow, 'account' | 'hash' | 'root'>): Promise<readonly Reach[]>
  /** Removes the record immediately, and the Sink's data once the Sink responds. */
  remove(name: PipelineRef): Promise<Result<void, Refusal>>
  state(name: PipelineRef): Promise<Result<PipelineState, Refusal>>
  logs(name: PipelineRef, before: number | null, limit: number): Promise<Result<readonly SinkLogLine[], Refusal>>
  metrics(name: PipelineRef, minutes: number): Promise<Result<readonly SinkMinute[], Refusal>>
  /** Tests the pipeline with the change applied. */
  test(name: PipelineRef, change: PipelineChange): Promise<Result<SinkTest, Refusal>>
  /** Prices of a row and of a running minute; null if no worker responds. */
  prices(account: AccountId): Promise<Pick<SinkStatus, 'rowMicro' | 'minuteMicro'> | null>
  /** The newest rows of a pipeline that need not exist. */
  preview(caller: PipelineCaller, request: PipelinePreview): Promise<Result<SinkPreview, Refusal>>
  redeliver(name: PipelineRef): Promise<Result<number, Refusal>>
  estimateBackfill(name: PipelineRef, order: BackfillOrder): Promise<Result<BackfillPlan, Refusal>>
  /** The caller pays. The same order returns the same backfill. */
  orderBackfill(name: PipelineRef, order: BackfillOrder): Promise<Result<OrderedBackfill, Refusal>>
  showBackfill(name: PipelineRef): Promise<Result<PipelineBackfill, Refusal>>
  /** Returns what backfills have delivered. */
  cancelBackfill(name: PipelineRef): Promise<Result<readonly HeightRange[], Refusal>>
}

interface Staff extends StaffLookup {
  /** The token, shown only once; null if this name already has one. */
  add(name: string, role: StaffRole, nowMs: number): Promise<string | null>
  /** Newest first. */
  list(): Promise<readonly StaffRow[]>
  /** False if this name has no token. */
  revoke(name: string, nowMs: number): Promise<boolean>
}

export interface Audit {
  /** Returns the row number. Rejects if the row was not written; the action must then not run. */
  start(row: AuditRow, nowMs: number): Promise<number>
  finish(number: number, status: number, account: AccountId | null, nowMs: number): Promise<void>
}

export interface IncidentChange {
  readonly state: IncidentState
  readonly message: string
  /** Unix ms. Absent: unchanged. */
  readonly starts?: number | undefined
  readonly ends?: number | undefined
}

export interface NewIncident extends IncidentChange {
  readonly kind: IncidentKind
  readonly title: string
  readonly components: readonly Component[]
}

export interface Incidents {
  /** Newest first. `before`: an id. */
  list(before: number | undefined, limit: number): Promise<readonly Incident[]>
  find(id: number): Promise<Incident | null>
  create(incident: NewIncident, nowMs: number): Promise<Incident>
  /** False if the incident does not exist or has no room for another update. */
  update(id: number, change: IncidentChange, nowMs: number): Promise<boolean>
  /** False if it does not exist. */
  remove(id: number): Promise<boolean>
}
