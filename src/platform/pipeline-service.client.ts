// What owners do with pipelines, over D1 and their Sink objects. Laws: the record is written first; whoever names a
// pipeline tells its object what that is not known to have; nothing that was refused is written.

import type { Failure, Issue } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { NO_KEY_SECRET } from '../edge/key-ring.store.ts'
import { randomBase58 } from '../key/format.ts'
import { changed, created, isSame, type NewPipeline, type PipelineChange, type Written } from '../pipeline/changes.ts'
import { urlRefusal } from '../pipeline/destinations/egress.client.ts'
import { chainOf } from '../pipeline/evm/evm-record.ts'
import type { Topic } from '../pipeline/pipeline.ts'
import { BYTES_MAX, PipelineStore, WALLETS_MAX } from '../pipeline/pipelines.store.ts'
import { PIPELINES_MAX, type PipelineRow } from '../pipeline/row.ts'
import { seal } from '../pipeline/sealing.client.ts'
import { SINK_API_VERSION, type SinkApi, type SinkPhase } from '../pipeline/sink-api.ts'
import { isInStep, SinkLink, type SinkLinkPorts } from '../pipeline/sink-link.client.ts'
import { NO_PIPELINE } from './pipeline-shapes.ts'
import type { Keys, NamedPipeline, PipelineState, Pipelines } from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'

export interface PipelinePorts extends Omit<SinkLinkPorts, 'store'> {
  readonly db: D1Database
  readonly keys: Pick<Keys, 'hashed'>
  /** What is wrong with an account's transforms over the rows of a topic, with paths such as `transforms.large`. */
  readonly checkTransforms: (
    account: string,
    transforms: Readonly<Record<string, string>>,
    topic: Topic,
  ) => Promise<readonly Issue[]>
  /** Names of RPC_CHAINS with nodes. */
  readonly chains: readonly string[]
  /** PIPELINE_PRIVATE. */
  readonly isPrivateAllowed: boolean
  readonly nowMs: () => number
}

const v = SINK_API_VERSION
/** A destination may take its time. */
const TEST_MS = 45_000
/** How often a change is made anew because another one came between. */
const TRIES = 3
const ID_CHARS = 22
/** Setting one to run ends these. */
const WAITING: readonly SinkPhase[] = ['failed', 'unpaid', 'retrying']

const away = (what: string): Failure => ({ kind: 'unavailable', what, hint: `${what}: send this again in a moment.` })
const AWAY = away('What runs this pipeline did not answer')
const NOT_TOLD = away('The pipeline is recorded so, but what runs it could not be told')
const UNCHECKED = away('Nothing is changed, because what checks transforms did not answer')
const NOT_EMPTIED = away('The pipeline is deleted, but what ran it could not be told')
const conflict = (message: string): Refusal => ({ kind: 'conflict', message })
const ROOM = conflict(
  `an account has at most ${PIPELINES_MAX} pipelines, ${BYTES_MAX / 1e6} MB of them, and ${WALLETS_MAX} wallets in those of order_updates: delete what is not needed`,
)
const BUSY = conflict('others are changing this pipeline: read it, and send this again')
const TESTED = conflict('this pipeline is being tested already: wait for that answer, and send this again')
const SEALED = conflict(
  'destination_config: its secret cannot be read any more, because the operator changed KEY_SECRET: send it again',
)

export class PipelineService implements Pipelines {
  readonly #ports: PipelinePorts
  readonly #store: PipelineStore
  readonly #link: SinkLink

  constructor(ports: PipelinePorts) {
    this.#ports = ports
    this.#store = new PipelineStore(ports.db)
    this.#link = new SinkLink({ ...ports, store: this.#store })
  }

  async create(account: string, keyHash: string, order: NewPipeline): Promise<Result<PipelineRow, Refusal>> {
    const checked = await this.#allowed(account, created(order), order)
    if (!checked.ok) return checked
    const { nowMs, keys, keySecret } = this.#ports
    const id = `pipe_${randomBase58(ID_CHARS, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))}`
    const { fields, secret } = checked.value
    const sealed = secret ? await seal(secret, id, keySecret) : null
    const key = await keys.hashed(keyHash)
    const creatorName = key?.label || key?.prefix || ''
    const times = { createdMs: nowMs(), updatedMs: nowMs() }
    const row: PipelineRow = {
      ...{ id, account, fields, sealed, creator: keyHash, creatorName, ...times },
      ...{ revision: 1, told: 0, isRemoved: false },
    }
    if (!(await this.#store.add(row))) return err(ROOM)
    return ok(await this.#link.inStep(row))
  }

  page(account: string, from: number, limit: number) {
    return this.#store.page(account, from, limit)
  }

  async show(name: NamedPipeline): Promise<Result<PipelineRow, Refusal>> {
    const row = await this.#named(name)
    return row.ok ? ok(await this.#link.inStep(row.value)) : row
  }

  async change(name: NamedPipeline, change: PipelineChange): Promise<Result<PipelineRow, Refusal>> {
    for (let left = TRIES; left > 0; left--) {
      const before = await this.#named(name)
      if (!before.ok) return before
      const after = await this.#changed(before.value, change)
      if (!after.ok) return after
      const isChanged = after.value.isChanged || (change.status === 'running' && (await this.#isStuck(after.value.row)))
      const row = isChanged ? this.#next(after.value.row) : after.value.row
      if (!isChanged || (await this.#store.change(row, before.value.revision))) {
        const told = await this.#link.inStep(row)
        return isInStep(told) ? ok(told) : err(NOT_TOLD)
      }
      const now = await this.#named(name)
      if (now.ok && now.value.revision === before.value.revision) return err(ROOM)
    }
    return err(BUSY)
  }

  async remove({ account, id }: NamedPipeline): Promise<Result<void, Refusal>> {
    if ((await this.#store.named(account, id)) === null) return err(NO_PIPELINE)
    await this.#store.remove(id, this.#ports.nowMs())
    if ((await this.#link.asked(id, (sink) => sink.drop().then(() => true))) === null) return err(NOT_EMPTIED)
    await this.#store.forget(id)
    return ok(undefined)
  }

  async state(name: NamedPipeline): Promise<Result<PipelineState, Refusal>> {
    const row = await this.show(name)
    if (!row.ok) return row
    const status = await this.#link.asked(name.id, (sink) => sink.status())
    return ok({ row: row.value, inStep: isInStep(row.value), status })
  }

  async logs(name: NamedPipeline, before: number | null, limit: number) {
    const answer = await this.#of(name, (sink) => sink.logs({ v, before, limit }))
    return answer.ok ? ok(answer.value.lines) : answer
  }

  async metrics(name: NamedPipeline, minutes: number) {
    const answer = await this.#of(name, (sink) => sink.metrics({ v, minutes }))
    return answer.ok ? ok(answer.value.minutes) : answer
  }

  async test(name: NamedPipeline, change: PipelineChange) {
    const before = await this.show(name)
    if (!before.ok) return before
    const after = await this.#changed(before.value, change)
    if (!after.ok) return after
    const pipeline = await this.#link.opened(after.value.row)
    if (pipeline === null) return err(SEALED)
    const answer = await this.#link.asked(name.id, (sink) => sink.test({ v, pipeline }), TEST_MS)
    if (answer?.isBusy) return err(TESTED)
    return answer === null ? err(AWAY) : ok(answer)
  }

  async redeliver(name: NamedPipeline) {
    const answer = await this.#of(name, (sink) => sink.redeliver({ v }))
    return answer.ok ? ok(answer.value.batches) : answer
  }

  async #named({ account, id }: NamedPipeline): Promise<Result<PipelineRow, Refusal>> {
    const row = await this.#store.named(account, id)
    return row === null || row.isRemoved ? err(NO_PIPELINE) : ok(row)
  }

  /** Whether one that is set to run waits for somebody, credits or its next try, or cannot say: it is to hear of it once more. */
  async #isStuck({ id }: PipelineRow): Promise<boolean> {
    const status = await this.#link.asked(id, (sink) => sink.status())
    return status === null || WAITING.includes(status.phase)
  }

  #next(row: PipelineRow): PipelineRow {
    return { ...row, revision: row.revision + 1, updatedMs: this.#ports.nowMs() }
  }

  /** The row as the change makes it, and whether that is another one. */
  async #changed(before: PipelineRow, change: PipelineChange) {
    const { id, fields, sealed } = before
    const checked = await this.#allowed(before.account, changed(id, fields, change), change)
    if (!checked.ok) return checked
    const { secret } = checked.value
    if (secret === null && (await this.#link.opened(before)) === null) return err(SEALED)
    if (isSame(fields, checked.value)) return ok({ row: before, isChanged: false })
    const resealed = secret ? await seal(secret, id, this.#ports.keySecret) : null
    const row = { ...before, fields: checked.value.fields, sealed: secret === null ? sealed : resealed }
    return ok({ row, isChanged: true })
  }

  /** What only this gateway can say of what was sent: what was allowed once is not asked again. */
  async #allowed(
    account: string,
    written: Result<Written, readonly Issue[]>,
    sent: Pick<PipelineChange, 'destination_config' | 'transforms' | 'filter' | 'topic'>,
  ): Promise<Result<Written, Refusal>> {
    if (!written.ok) return err({ kind: 'bad_field', issues: written.error })
    if (written.value.secret && !this.#ports.keySecret) return err(NO_KEY_SECRET)
    const { destination_config: config, transforms = {} } = sent
    const { isPrivateAllowed } = this.#ports
    const wrongUrl = config && 'url' in config && !isPrivateAllowed ? urlRefusal(config.url) : null
    if (wrongUrl !== null) return err(badField('destination_config.url', wrongUrl))
    const { topic } = written.value.fields
    const isChainSent = topic === 'evm_logs' && (sent.filter ?? sent.topic) !== undefined
    const chain = isChainSent ? chainOf(written.value.fields, this.#ports.chains) : null
    if (chain?.ok === false) return err({ kind: 'bad_field', issues: [chain.error] })
    if (Object.keys(transforms).length === 0) return written
    const { checkTransforms, report } = this.#ports
    const issues = await checkTransforms(account, transforms, topic).catch(report)
    if (!issues) return err(UNCHECKED)
    return issues.length === 0 ? written : err({ kind: 'bad_field', issues })
  }

  /** Asks the object of a pipeline that there is. */
  async #of<Answer>(name: NamedPipeline, ask: (sink: SinkApi) => Promise<Answer>): Promise<Result<Answer, Refusal>> {
    const row = await this.show(name)
    if (!row.ok) return row
    const answer = await this.#link.asked(name.id, ask)
    return answer === null ? err(AWAY) : ok(answer)
  }
}
