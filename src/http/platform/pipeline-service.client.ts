// Pipeline management for owners, over D1 and the Sink objects. Invariants: the record in D1 is written first, and each
// later access syncs it to the Sink; rejected changes are not written; the key that causes costs is the key that is
// charged; a key with right `own` reaches no pipeline charged to other keys.

import { NO_KEY_SECRET } from '../../accounts/key-resolver.store.ts'
import { type KeyRow, type PipelineRight, pipelineRight, rootOf } from '../../accounts/key-row.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { Failure, Issue } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import {
  differences,
  type NewPipeline,
  type PipelineChange,
  type PipelinePreview,
  type ValidatedPipeline,
  validateChange,
  validateNew,
  validatePreview,
} from '../../pipelines/changes.ts'
import { chainOf } from '../../pipelines/evm/evm-record.ts'
import { MAX_PIPELINES, type PipelineRow } from '../../pipelines/pipeline-row.ts'
import { KEY_SHARE, MAX_BYTES, MAX_REPLICA, MAX_WALLETS, PipelineStore } from '../../pipelines/pipelines.store.ts'
import { seal } from '../../pipelines/sealing.client.ts'
import { SINK_API_VERSION, type SinkApi, type SinkPhase, type SinkStatus } from '../../pipelines/sink-api.ts'
import { isSynced, SinkLink, type SinkLinkPorts } from '../../pipelines/sink-link.client.ts'
import { type KnownRows, PipelineBackfills } from './pipeline-backfills.client.ts'
import type {
  BackfillOrder,
  Keys,
  PipelineCaller,
  PipelineRef,
  PipelineState,
  Pipelines,
  Reach,
} from './platform-api.ts'
import { badField, type Refusal, retryLater } from './refusal.ts'

export interface PipelinePorts extends Omit<SinkLinkPorts, 'store'> {
  readonly db: D1Database
  readonly keys: Pick<Keys, 'findByHash'>
  /** False on a gateway that delivers no pipelines. */
  readonly hasSinks: boolean
  /** Names of chains in RPC_CHAINS that have nodes. */
  readonly chains: readonly string[]
  /** Why a customer URL is not allowed; null: nothing is wrong with the URL itself. */
  readonly urlRefusal: (url: string) => string | null
  readonly nowMs: () => number
}

const v = SINK_API_VERSION
/** Timeout of calls that involve destinations or SQL. */
const TEST_MS = 45_000
/** Maximum attempts for a change that conflicts with concurrent changes. */
const TRIES = 3
const ID_CHARS = 22
/**
 * Phases that the pipeline leaves when its status is set to `running`. A finished pipeline then delivers its dead
 * letters or continues to a new end.
 */
const WAITING_PHASES: readonly SinkPhase[] = ['failed', 'finished', 'unpaid', 'paused', 'retrying']

const unavailable = (what: string): Failure => ({
  kind: 'unavailable',
  what,
  hint: `${what}. Retry in a moment.`,
})
const NO_RESPONSE = unavailable('The pipeline’s worker did not respond')
export const NOT_SYNCED = unavailable('The change is saved, but the pipeline’s worker did not respond')
const NOT_CHECKED = unavailable('Nothing was changed, because the check of the transforms did not respond')
const NOT_EMPTIED = unavailable('The pipeline is deleted, but its worker did not respond')
const conflict = (message: string): Refusal => ({ kind: 'conflict', message })
export const ACCOUNT_FULL = conflict(
  `account limit reached: ${MAX_PIPELINES} pipelines, ${MAX_BYTES / 1e6} MB of definitions, ${MAX_WALLETS} wallets in order_updates pipelines and ${MAX_REPLICA.account} replica_cmds pipelines (${MAX_REPLICA.total} of all accounts). Delete unused pipelines`,
)
const KEY_SHARE_FULL = conflict(
  `key limit reached: a key with "pipelines": "own" has at most ${KEY_SHARE.pipelines} pipelines, ${KEY_SHARE.bytes / 1e6} MB of definitions and ${KEY_SHARE.wallets} wallets in order_updates pipelines. Delete unused pipelines or use a key with "pipelines": "all"`,
)
const BUSY = conflict('this pipeline was changed concurrently. Read it again, then retry')
const TEST_RUNNING = conflict('a test of this pipeline is already running. Retry when it has finished')
const FIXED_BACKFILL = conflict(
  'a backfill keeps the settings of its order. Change "status" only, or cancel it and order another one',
)
const SECRET_UNREADABLE = conflict(
  'destination_config: the stored secret is unreadable because the operator changed KEY_SECRET. Send the secret again',
)

export const NO_PIPELINES: Failure = {
  kind: 'not_found',
  what: 'Pipelines',
  hint: 'This gateway delivers no pipelines, because its operator does not run the jobs Worker. Pipelines from before can only be read and deleted.',
}
const NO_PIPELINE: Failure = { kind: 'not_found', what: 'This pipeline' }
const OTHER_KEYS_PIPELINE: Failure = {
  kind: 'not_entitled',
  why: 'This pipeline is charged to another key, and this key is limited to its own pipelines. Use a key with "pipelines": "all".',
}

/** The calling key. */
interface Caller {
  readonly hash: KeyHash
  readonly root: string
  readonly name: string
  readonly right: PipelineRight
}

export class PipelineService implements Pipelines {
  readonly #ports: PipelinePorts
  readonly #store: PipelineStore
  readonly #link: SinkLink
  readonly #backfills: PipelineBackfills

  constructor(ports: PipelinePorts) {
    this.#ports = ports
    this.#store = new PipelineStore(ports.db)
    this.#link = new SinkLink({ ...ports, store: this.#store })
    const discard = (id: string) => this.#discard(id)
    this.#backfills = new PipelineBackfills({ ...ports, store: this.#store, link: this.#link, newId, discard })
  }

  async create({ account, keyHash }: PipelineCaller, order: NewPipeline): Promise<Result<PipelineRow, Refusal>> {
    if (!this.#ports.hasSinks) return err(NO_PIPELINES)
    const checked = await this.#validate(account, validateNew(order), order)
    if (!checked.ok) return checked
    const { nowMs, keySecret } = this.#ports
    const id = newId()
    const { fields, secret } = checked.value
    const sealed = secret ? await seal(secret, id, keySecret) : null
    const caller = await this.#caller(keyHash)
    const times = { createdMs: nowMs(), updatedMs: nowMs() }
    const row: PipelineRow = {
      id,
      account,
      fields,
      sealed,
      creator: keyHash,
      creatorName: caller.name,
      ...times,
      ...payerOf(caller),
      destinationRoot: caller.root,
      revision: 1,
      sentRevision: 0,
      isRemoved: false,
      backfillOf: null,
      backfillRequest: null,
      backfilled: [],
    }
    if (!(await this.#store.add(row, shareOf(caller)))) return err(fullRefusal(caller))
    return ok(await this.#link.sync(row))
  }

  async page({ account, keyHash }: PipelineCaller, from: number, limit: number) {
    const { right, root } = await this.#caller(keyHash)
    return this.#store.list(account, right === 'all' ? null : root, from, limit)
  }

  async count(account: AccountId): Promise<number> {
    return (await this.#store.list(account, null, 0, 0)).total
  }

  async reach(key: Pick<KeyRow, 'account' | 'hash' | 'root'>): Promise<readonly Reach[]> {
    const root = rootOf(key)
    const rows = await this.#store.ofKeyChain(key.account, root)
    return rows.map((row) => ({
      row,
      isCharged: row.payerRoot === root,
      hasSetDestination: row.destinationRoot === root,
    }))
  }

  async show(name: PipelineRef): Promise<Result<PipelineRow, Refusal>> {
    const row = await this.#find(name, await this.#caller(name.keyHash))
    return row.ok ? ok(await this.#link.sync(row.value)) : row
  }

  adopt(name: PipelineRef): Promise<Result<PipelineRow, Refusal>> {
    return this.change(name, {}, 'adopts')
  }

  /** With `pays`, the caller starts to pay, even if nothing else changes. `adopts` also resumes a waiting pipeline. */
  async change(
    name: PipelineRef,
    change: PipelineChange,
    takes: 'pays' | 'adopts' | null = null,
  ): Promise<Result<PipelineRow, Refusal>> {
    if (!this.#ports.hasSinks) return err(NO_PIPELINES)
    const caller = await this.#caller(name.keyHash)
    for (let left = TRIES; left > 0; left--) {
      const before = await this.#find(name, caller)
      if (!before.ok) return before
      if (before.value.backfillOf !== null && !isStatusOnly(change)) return err(FIXED_BACKFILL)
      const after = await this.#applyChange(before.value, change, caller)
      if (!after.ok) return after
      const { row: changed, isChanged: isOther, sends } = after.value
      const isStarted = change.status === 'running' && before.value.fields.status !== 'running'
      const mayWake = !isStarted && (takes === 'adopts' || change.status === 'running')
      const isWoken = mayWake && (await this.#isStuck(changed))
      const isTaken = (takes !== null || sends || isStarted || isWoken) && before.value.payer !== caller.hash
      const isChanged = isOther || isWoken || isTaken
      const row = isChanged ? this.#nextRevision(isTaken ? { ...changed, ...payerOf(caller) } : changed) : changed
      if (!isChanged || (await this.#store.update(row, before.value.revision, shareOf(caller)))) {
        const synced = await this.#link.sync(row)
        return isSynced(synced) ? ok(synced) : err(NOT_SYNCED)
      }
      const now = await this.#find(name, caller)
      if (now.ok && now.value.revision === before.value.revision) return err(fullRefusal(caller))
    }
    return err(BUSY)
  }

  async remove({ account, id, keyHash }: PipelineRef): Promise<Result<void, Refusal>> {
    // Includes deleted pipelines, whose Sink may not be cleared yet.
    const row = await this.#store.get(account, id)
    if (row === null) return err(NO_PIPELINE)
    if (!mayTouch(await this.#caller(keyHash), row)) return err(OTHER_KEYS_PIPELINE)
    if (row.backfillOf !== null) {
      const parent = await this.#store.get(account, row.backfillOf)
      if (parent === null || parent.isRemoved) return (await this.#discard(id)) ? ok(undefined) : err(NOT_EMPTIED)
      // Only a cancellation records what a backfill has delivered.
      const canceled = await this.cancelBackfill({ account, id: row.backfillOf, keyHash })
      return canceled.ok ? ok(undefined) : canceled
    }
    // From now on, no backfill can be added to it.
    await this.#store.remove(id, this.#ports.nowMs())
    const child = await this.#store.backfillOf(account, id)
    const isChildEmptied = child === null || (await this.#discard(child.id))
    const isEmptied = await this.#discard(id, false)
    if (!isChildEmptied || !isEmptied) return err(NOT_EMPTIED)
    await this.#store.purge(id)
    return ok(undefined)
  }

  /** Deletes the record and the data of its object. False: the object did not respond; the record is then only marked. */
  async #discard(id: string, isPurged = true): Promise<boolean> {
    await this.#store.remove(id, this.#ports.nowMs())
    const isEmptied = !this.#ports.hasSinks || (await this.#link.call(id, (sink) => sink.drop().then(() => true)))
    if (isEmptied && isPurged) await this.#store.purge(id)
    return isEmptied === true
  }

  async state(name: PipelineRef): Promise<Result<PipelineState, Refusal>> {
    const row = await this.show(name)
    if (!row.ok) return row
    const status = await this.#link.call(name.id, (sink) => sink.status())
    return ok({ row: row.value, inSync: isSynced(row.value), status })
  }

  async logs(name: PipelineRef, before: number | null, limit: number) {
    const answer = await this.#callSink(name, (sink) => sink.logs({ v, before, limit }))
    return answer.ok ? ok(answer.value.lines) : answer
  }

  async metrics(name: PipelineRef, minutes: number) {
    const answer = await this.#callSink(name, (sink) => sink.metrics({ v, minutes }))
    return answer.ok ? ok(answer.value.minutes) : answer
  }

  async test(name: PipelineRef, change: PipelineChange) {
    if (!this.#ports.hasSinks) return err(NO_PIPELINES)
    const before = await this.show(name)
    if (!before.ok) return before
    const caller = await this.#caller(name.keyHash)
    const after = await this.#applyChange(before.value, change, caller)
    if (!after.ok) return after
    // The caller pays for the test.
    const pipeline = await this.#link.toPipeline({ ...after.value.row, ...payerOf(caller) })
    if (pipeline === null) return err(SECRET_UNREADABLE)
    const answer = await this.#link.call(name.id, (sink) => sink.trial({ v, pipeline }), TEST_MS)
    if (answer?.isBusy) return err(TEST_RUNNING)
    if (answer?.waitMs !== undefined) return err(retryLater(answer.waitMs, answer.words))
    return answer === null ? err(NO_RESPONSE) : ok(answer)
  }

  /** Of a worker that has no pipeline, because the account may have none yet. */
  async prices(account: AccountId): Promise<Pick<SinkStatus, 'rowMicro' | 'minuteMicro'> | null> {
    return this.#ports.hasSinks ? this.#link.call(`check/${account}`, (sink) => sink.status()) : null
  }

  async preview({ account, keyHash }: PipelineCaller, request: PipelinePreview) {
    if (!this.#ports.hasSinks) return err(NO_PIPELINES)
    const checked = await this.#validate(account, validatePreview(request), request)
    if (!checked.ok) return checked
    const { name: payer_name } = await this.#caller(keyHash)
    const now = new Date(this.#ports.nowMs()).toISOString()
    const record = { id: `preview/${account}`, account, payer: keyHash, payer_name, revision: 1 }
    const pipeline = { ...checked.value.fields, ...record, created_at: now, updated_at: now }
    const answer = await this.#link.call(`check/${account}`, (sink) => sink.preview({ v, pipeline }), TEST_MS)
    if (answer === null) return err(NO_RESPONSE)
    const { fault, wait } = answer
    if (wait) return err(retryLater(wait.waitMs, wait.words))
    return fault ? err(badField(fault.path, fault.message)) : ok(answer)
  }

  /** The caller pays for the redelivered batches and everything after them. */
  async redeliver(name: PipelineRef) {
    const changed = await this.change(name, {}, 'pays')
    if (!changed.ok) return changed
    const answer = await this.#callSink(name, (sink) => sink.redeliver({ v }))
    return answer.ok ? ok(answer.value.batches) : answer
  }

  async estimateBackfill(name: PipelineRef, order: BackfillOrder) {
    return this.#onBackfills(name, (rows, caller) => this.#backfills.estimate(rows, caller, order))
  }

  async orderBackfill(name: PipelineRef, order: BackfillOrder) {
    return this.#onBackfills(name, (rows, caller) => this.#backfills.order(rows, caller, order))
  }

  async showBackfill(name: PipelineRef) {
    return this.#onBackfills(name, (rows) => this.#backfills.show(rows))
  }

  async cancelBackfill(name: PipelineRef) {
    return this.#onBackfills(name, (rows) => this.#backfills.cancel(rows))
  }

  /** A backfill has no backfill. */
  async #onBackfills<Answer>(
    name: PipelineRef,
    run: (rows: KnownRows, caller: Caller & { readonly share: string | null }) => Promise<Result<Answer, Refusal>>,
  ): Promise<Result<Answer, Refusal>> {
    if (!this.#ports.hasSinks) return err(NO_PIPELINES)
    const caller = await this.#caller(name.keyHash)
    const row = await this.#find(name, caller)
    if (!row.ok) return row
    if (row.value.backfillOf !== null) return err(NO_PIPELINE)
    const child = await this.#store.backfillOf(name.account, name.id)
    if (child !== null && !mayTouch(caller, child)) return err(OTHER_KEYS_PIPELINE)
    return run({ row: await this.#link.sync(row.value), child }, { ...caller, share: shareOf(caller) })
  }

  async #find({ account, id }: PipelineRef, caller: Caller): Promise<Result<PipelineRow, Refusal>> {
    const row = await this.#store.get(account, id)
    if (row === null || row.isRemoved) return err(NO_PIPELINE)
    return mayTouch(caller, row) ? ok(row) : err(OTHER_KEYS_PIPELINE)
  }

  /** Reads the key table on each call, because the identity of a call lacks the key's restrictions. */
  async #caller(keyHash: KeyHash): Promise<Caller> {
    const key = await this.#ports.keys.findByHash(keyHash)
    if (key === null) return { hash: keyHash, root: keyHash, name: '', right: 'own' }
    return { hash: keyHash, root: rootOf(key), name: key.label || key.prefix, right: pipelineRight(key) ?? 'own' }
  }

  /**
   * True if a running pipeline waits for credits, a key or a retry, or its state is unknown, so that the status must be
   * sent to it again.
   */
  async #isStuck({ id, fields }: PipelineRow): Promise<boolean> {
    if (fields.status !== 'running') return false
    const status = await this.#link.call(id, (sink) => sink.status())
    return status === null || WAITING_PHASES.includes(status.phase)
  }

  #nextRevision(row: PipelineRow): PipelineRow {
    return { ...row, revision: row.revision + 1, updatedMs: this.#ports.nowMs() }
  }

  /** The row after the change, whether it differs, and whether its output changes. */
  async #applyChange(before: PipelineRow, change: PipelineChange, { root }: Caller) {
    const { id, fields, sealed } = before
    const checked = await this.#validate(before.account, validateChange(id, fields, change), change)
    if (!checked.ok) return checked
    const { secret } = checked.value
    if (secret === null && (await this.#link.toPipeline(before)) === null) return err(SECRET_UNREADABLE)
    const { isAny, isSent: sends, isDestination } = differences(fields, checked.value)
    if (!isAny) return ok({ row: before, isChanged: false, sends })
    const destinationRoot = isDestination ? root : before.destinationRoot
    const resealed = secret ? await seal(secret, id, this.#ports.keySecret) : null
    const own = { fields: checked.value.fields, sealed: secret === null ? sealed : resealed, destinationRoot }
    return ok({ row: { ...before, ...own }, isChanged: true, sends })
  }

  /** Checks that depend on this gateway: URL, chain and transforms. Unchanged parts are not checked again. */
  async #validate(
    account: AccountId,
    written: Result<ValidatedPipeline, readonly Issue[]>,
    sent: Pick<PipelineChange, 'destination_config' | 'transforms' | 'filter' | 'topic'>,
  ): Promise<Result<ValidatedPipeline, Refusal>> {
    if (!written.ok) return err({ kind: 'bad_field', issues: written.error })
    if (written.value.secret && !this.#ports.keySecret) return err(NO_KEY_SECRET)
    const { destination_config: config, transforms = {} } = sent
    const wrongUrl = config && 'url' in config ? this.#ports.urlRefusal(config.url) : null
    if (wrongUrl !== null) return err(badField('destination_config.url', wrongUrl))
    const { topic } = written.value.fields
    const isChainSent = topic === 'evm_logs' && (sent.filter ?? sent.topic) !== undefined
    const chain = isChainSent ? chainOf(written.value.fields, this.#ports.chains) : null
    if (chain?.ok === false) return err({ kind: 'bad_field', issues: [chain.error] })
    if (Object.keys(transforms).length === 0) return written
    const request = { v, account, transforms, topic }
    // One object per account runs the check, so that a rejected pipeline leaves no object behind.
    const checked = await this.#link.call(`check/${account}`, (sink) => sink.check(request), TEST_MS)
    if (checked === null) return err(NOT_CHECKED)
    const { fault, wait } = checked
    if (wait) return err(retryLater(wait.waitMs, wait.words))
    return fault ? err(badField(`transforms.${fault.name}`, fault.message)) : written
  }

  /** Calls the Sink object of an existing pipeline. */
  async #callSink<Answer>(
    name: PipelineRef,
    call: (sink: SinkApi) => Promise<Answer>,
  ): Promise<Result<Answer, Refusal>> {
    if (!this.#ports.hasSinks) return err(NO_PIPELINES)
    const row = await this.show(name)
    if (!row.ok) return row
    const answer = await this.#link.call(name.id, call)
    return answer === null ? err(NO_RESPONSE) : ok(answer)
  }
}

const isStatusOnly = ({ status: _, ...rest }: PipelineChange) => Object.keys(rest).length === 0
const newId = () => `pipe_${randomBase58(ID_CHARS, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))}`
const shareOf = ({ right, root }: Caller) => (right === 'own' ? root : null)
const fullRefusal = ({ right }: Caller) => (right === 'own' ? KEY_SHARE_FULL : ACCOUNT_FULL)
const payerOf = ({ hash, name, root }: Caller) => ({ payer: hash, payerName: name, payerRoot: root })
const mayTouch = ({ right, root }: Caller, { payerRoot }: PipelineRow) => right === 'all' || payerRoot === root
