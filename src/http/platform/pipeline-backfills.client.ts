// Backfills of pipelines. A backfill is a pipeline of its own with an end. So it survives restarts, is charged like a
// pipeline, and never touches the cursor of its pipeline. Invariants: a pipeline has one backfill at a time; the delivered
// range is recorded before a backfill is removed; a repeated order is the same backfill.

import { canonicalJson } from '../../core/canonical-json.ts'
import type { After } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import type { KeyHash } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { type HeightRange, hasRoomFor, MAX_RANGES, withRange } from '../../pipelines/backfill.ts'
import { isOtherChain, REQUESTED_TOPICS } from '../../pipelines/pipeline.ts'
import type { PipelineRow } from '../../pipelines/pipeline-row.ts'
import type { PipelineStore } from '../../pipelines/pipelines.store.ts'
import { seal } from '../../pipelines/sealing.client.ts'
import { secretOf } from '../../pipelines/secrets.ts'
import { SINK_API_VERSION, type SinkStatus } from '../../pipelines/sink-api.ts'
import { isSynced, type SinkLink } from '../../pipelines/sink-link.client.ts'
import type { BackfillOrder, BackfillPlan, OrderedBackfill, PipelineBackfill, Pipelines } from './platform-api.ts'
import { badField, type Refusal, retryLater } from './refusal.ts'

interface BackfillPorts {
  readonly store: PipelineStore
  readonly link: SinkLink
  readonly keySecret: string
  readonly after: After
  readonly nowMs: () => number
  readonly newId: () => string
  /** Deletes a pipeline and the data of its object. False: the object did not respond. */
  readonly discard: (id: string) => Promise<boolean>
}

/** The key that pays for a backfill. `share`: root of its rotation chain if it is limited to a share of the account. */
interface PayingKey {
  readonly hash: KeyHash
  readonly root: string
  readonly name: string
  readonly share: string | null
}

/** A pipeline and its backfill; null: it has none. */
export interface KnownRows {
  readonly row: PipelineRow
  readonly child: PipelineRow | null
}

const v = SINK_API_VERSION
/** Longer than a survey. */
const SURVEY_MS = 45_000
const PAUSE_POLL_MS = 500
const PAUSE_POLLS = 10

const conflict = (message: string): Refusal => ({ kind: 'conflict', message })
const unavailable = (what: string): Failure => ({ kind: 'unavailable', what, hint: `${what}. Retry in a moment.` })
const NO_RESPONSE = unavailable('The pipeline’s worker did not respond')
const STILL_SENDING = unavailable('The backfill is paused, but its last batch is still being sent')
const NO_PAST = conflict('topic: rows of past blocks are not stored, so there is nothing to backfill')
const NOT_STARTED = conflict('the pipeline has not read its first block yet. Start it, then retry')
const UNDER_WAY = conflict('a backfill of this pipeline is under way. Wait for it or cancel it, then retry')
const NO_BACKFILL: Failure = { kind: 'not_found', what: 'A backfill of this pipeline' }
const TOO_MANY_RANGES = conflict(
  `the backfills of this pipeline have ${MAX_RANGES} separate ranges. Order a range that begins right after one of them`,
)
const CHANGED = conflict(
  'the backfill was changed concurrently, or the account has no room for it. Read it, then retry',
)
const SECRET_UNREADABLE = conflict(
  'destination_config: the stored secret is unreadable because the operator changed KEY_SECRET. Send the secret again',
)

const hasPast = ({ fields }: PipelineRow) => !REQUESTED_TOPICS.includes(fields.topic)

export class PipelineBackfills {
  readonly #ports: BackfillPorts

  constructor(ports: BackfillPorts) {
    this.#ports = ports
  }

  /** The blocks and the cost of a backfill that is not ordered. */
  async estimate(
    { row, child }: KnownRows,
    key: PayingKey,
    order: BackfillOrder,
  ): Promise<Result<BackfillPlan, Refusal>> {
    const delivered = child === null ? ok(row.backfilled) : await this.#withDelivered(row, child)
    return delivered.ok ? this.#plan({ ...row, backfilled: delivered.value }, key, order, true) : delivered
  }

  async order(
    { row, child: before }: KnownRows,
    key: PayingKey,
    order: BackfillOrder,
  ): Promise<Result<OrderedBackfill, Refusal>> {
    const { store, link } = this.#ports
    const request = order.idempotency_key ?? canonicalJson({ ...order })
    if (before !== null && !before.isRemoved && before.backfillRequest === request) return this.#stateOf(row, before)
    const cleared = before === null ? ok(row) : await this.#clear(row, before)
    if (!cleared.ok) return cleared
    const plan = await this.#plan(cleared.value, key, order, false)
    if (!plan.ok) return plan
    if (!hasRoomFor(cleared.value.backfilled, plan.value.range)) return err(TOO_MANY_RANGES)
    const child = await this.#childOf(row, key, plan.value, request)
    if (child === null) return err(SECRET_UNREADABLE)
    if (!(await store.add(child, key.share))) return err(CHANGED)
    return this.#stateOf(cleared.value, await link.sync(child))
  }

  async show({ row, child }: KnownRows): Promise<Result<PipelineBackfill, Refusal>> {
    if (child === null || child.isRemoved)
      return ok({ row: null, status: null, backfilled: row.backfilled, hasPast: hasPast(row) })
    return this.#stateOf(row, await this.#ports.link.sync(child))
  }

  /** Stops the backfill after its batch in flight. */
  async cancel({ row, child }: KnownRows): ReturnType<Pipelines['cancelBackfill']> {
    if (child === null) return err(NO_BACKFILL)
    const paused = child.isRemoved ? ok(null) : await this.#pause(child)
    if (!paused.ok) return paused
    const cleared = await this.#clear(row, child, true)
    return cleared.ok ? ok(cleared.value.backfilled) : cleared
  }

  async #plan(
    row: PipelineRow,
    key: PayingKey,
    { from, to, redeliver: isAgain }: BackfillOrder,
    isSampled: boolean,
  ): Promise<Result<BackfillPlan, Refusal>> {
    const { link } = this.#ports
    if (!hasPast(row)) return err(NO_PAST)
    const [status, pipeline] = await Promise.all([
      link.call(row.id, (sink) => sink.status()),
      link.toPipeline({ ...row, payer: key.hash, payerName: key.name }),
    ])
    if (status === null) return err(NO_RESPONSE)
    if (pipeline === null) return err(SECRET_UNREADABLE)
    if (status.first === null) return err(NOT_STARTED)
    const backfilled = (status.earlier ?? []).reduce(withRange, row.backfilled)
    const delivered = { first: status.first, height: status.height, backfilled }
    // The survey of an account runs in the object of its checks, and does not disturb the pipeline.
    const reader = { ...pipeline, id: `survey/${row.account}` }
    const request = { v, pipeline: reader, from, to, delivered, isAgain, isSampled }
    const survey = await link.call(`check/${row.account}`, (sink) => sink.survey(request), SURVEY_MS)
    if (survey === null) return err(NO_RESPONSE)
    if (survey.wait) return err(retryLater(survey.wait.waitMs, survey.wait.words))
    if (survey.fault) return err(badField(survey.fault.path, survey.fault.message))
    if (survey.range === null) return err(NO_RESPONSE)
    return ok({ range: survey.range, estimate: survey.estimate, status })
  }

  /** The pipeline that delivers a range with the output of this one. It never sets rows aside. Null: the secret is lost. */
  async #childOf(
    row: PipelineRow,
    key: PayingKey,
    { range }: BackfillPlan,
    request: string,
  ): Promise<PipelineRow | null> {
    const { link, newId, keySecret, nowMs } = this.#ports
    const pipeline = await link.toPipeline(row)
    if (pipeline === null) return null
    const id = newId()
    const secret = row.sealed === null ? '' : secretOf(pipeline.destination_config)
    return {
      ...row,
      id,
      sealed: secret === '' ? null : await seal(secret, id, keySecret),
      fields: {
        ...row.fields,
        status: 'running',
        on_failure: 'pause',
        execution_mode: 'bounded',
        execution_start_from: String(range.from),
        execution_stop_from: String(range.to),
      },
      creator: key.hash,
      creatorName: key.name,
      payer: key.hash,
      payerName: key.name,
      payerRoot: key.root,
      revision: 1,
      sentRevision: 0,
      createdMs: nowMs(),
      updatedMs: nowMs(),
      backfillOf: row.id,
      backfillRequest: request,
      backfilled: [],
    }
  }

  async #stateOf(row: PipelineRow, child: PipelineRow): Promise<Result<OrderedBackfill, Refusal>> {
    const status = await this.#ports.link.call(child.id, (sink) => sink.status())
    return ok({ row: child, status, backfilled: row.backfilled, hasPast: hasPast(row) })
  }

  async #pause(child: PipelineRow): Promise<Result<null, Refusal>> {
    const { store, link, after, nowMs } = this.#ports
    const fields = { ...child.fields, status: 'paused' as const }
    const paused = { ...child, fields, revision: child.revision + 1, updatedMs: nowMs() }
    if (child.fields.status !== 'paused' && !(await store.update(paused, child.revision, null))) return err(CHANGED)
    const synced = await link.sync(child.fields.status === 'paused' ? child : paused)
    // An object without its secret takes no orders, and delivers nothing once it is reloaded.
    if (!isSynced(synced) && (await link.toPipeline(child)) !== null) return err(NO_RESPONSE)
    for (let left = PAUSE_POLLS; left > 0; left--) {
      const status = await link.call(child.id, (sink) => sink.status())
      if (status === null) return err(NO_RESPONSE)
      if (status.phase !== 'pausing') return ok(null)
      await new Promise<void>((resolve) => void after(PAUSE_POLL_MS, resolve))
    }
    return err(STILL_SENDING)
  }

  /** Records what a backfill that is over, or canceled, has delivered, and removes it. Returns the pipeline after that. */
  async #clear(row: PipelineRow, child: PipelineRow, isCanceled = false): Promise<Result<PipelineRow, Refusal>> {
    const { store, discard } = this.#ports
    const delivered = await this.#withDelivered(row, child, (phase) => isCanceled || phase === 'finished')
    if (!delivered.ok) return delivered
    const isSame = delivered.value === row.backfilled
    if (!isSame && !(await store.setBackfilled(row.id, row.backfilled, delivered.value))) return err(CHANGED)
    if (!(await discard(child.id))) return err(NO_RESPONSE)
    return ok({ ...row, backfilled: delivered.value })
  }

  /** The ranges with what this backfill has delivered. */
  async #withDelivered(
    row: PipelineRow,
    child: PipelineRow,
    isOver: (phase: SinkStatus['phase']) => boolean = () => true,
  ): Promise<Result<readonly HeightRange[], Refusal>> {
    // It was recorded before the deletion began.
    if (child.isRemoved) return ok(row.backfilled)
    const status = await this.#ports.link.call(child.id, (sink) => sink.status())
    if (status === null) return err(NO_RESPONSE)
    if (!isOver(status.phase)) return err(UNDER_WAY)
    if (status.height === null || isOtherChain(child.fields, row.fields)) return ok(row.backfilled)
    return ok(withRange(row.backfilled, { from: Number(child.fields.execution_start_from), to: status.height }))
  }
}
