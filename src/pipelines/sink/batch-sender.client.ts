// Sends batches and dead letters through their transforms to the destination.

import { connect } from 'cloudflare:sockets'
import { Egress } from '../../core/egress.client.ts'
import type { EgressSettings } from '../../core/egress.ts'
import type { Issue } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import {
  type AttemptResult,
  type Batch,
  batchId,
  type DeliveryFailure,
  type DeliveryResult,
} from '../destinations/batch.ts'
import { ClickHouseTables, sendToClickHouse } from '../destinations/clickhouse.client.ts'
import { sendToKafka, sendToWebhook } from '../destinations/http.client.ts'
import { sendToBucket, sendToS3 } from '../destinations/object-file.client.ts'
import { type Connect, type PostgresServer, sendToPostgres, serverOf } from '../destinations/postgres.client.ts'
import { hyperdriveOf } from '../hyperdrive.ts'
import type { DestinationConfig, Pipeline } from '../pipeline.ts'
import { TOPIC_COLUMNS } from '../topics/catalogue.ts'
import { DeadLetters } from './dead-letters.store.ts'
import { type BatchRows, billedRowCount, type CanAfford, type DeliveryPorts, errorMessage } from './delivery-state.ts'
import type { SinkSettings } from './sink-settings.ts'
import { SQL_LOST, SqlLink, sqlCaller } from './sql-link.client.ts'
import { transformedRows } from './transformed-rows.ts'

type Settings = EgressSettings & Pick<SinkSettings, 'PIPELINE_HYPERDRIVE'>
/** The operator's bucket, the SQL Worker, and Hyperdrives by name. */
type Bindings = { readonly ARCHIVE?: R2Bucket; readonly SQL: Pick<Fetcher, 'fetch'> } & object

const UNPAID_MESSAGE = 'Unpaid: these rows cost more than the remaining credits'

export class BatchSender {
  readonly #settings: Settings
  readonly #bindings: Bindings
  readonly #egress: Egress
  readonly #tables = new ClickHouseTables()
  readonly sql: SqlLink

  constructor(settings: Settings, bindings: Bindings) {
    this.#settings = settings
    this.#bindings = bindings
    this.sql = new SqlLink(bindings.SQL)
    this.#egress = new Egress(settings)
  }

  /** Null if there is no bucket. */
  deadLetters(pipeline: string): DeadLetters | null {
    const { ARCHIVE: bucket } = this.#bindings
    return bucket && pipeline ? new DeadLetters(bucket, pipeline) : null
  }

  /** Sends the oldest dead letter after `after`; null: there is none. */
  async sendOldestDeadLetter(
    pipeline: Pipeline,
    after: string | null,
    affords: CanAfford,
  ): ReturnType<DeliveryPorts['sendDeadLetter']> {
    const letters = this.deadLetters(pipeline.id)
    const key = await letters?.next(after)
    if (!letters || !key) return null
    try {
      const parcel = await letters.read(key)
      const { rows, texts: _, ...range } = parcel
      const outcome = await this.send(pipeline, parcel, batchId(pipeline.id, range), affords)
      return outcome.ok ? { ...outcome, key, ...range, rows: rows.length } : { ...outcome, key }
    } catch (error) {
      return { ok: false, message: errorMessage(error), key }
    }
  }

  /** Transforms a batch and sends it if it can be paid for. */
  async send(
    pipeline: Pipeline,
    parcel: BatchRows,
    id: string,
    affords: CanAfford,
    kind: 'batch' | 'test' = 'batch',
  ): Promise<DeliveryResult> {
    const { topic, transforms, destination_config: config } = pipeline
    const columns = TOPIC_COLUMNS.get(topic) ?? []
    const { from, to, rows, texts } = parcel
    let batch: Batch = { id, pipeline: pipeline.id, topic, from, to, rows, texts, columns }
    if (Object.keys(transforms).length > 0) {
      const made = await this.transform(pipeline, parcel, id, kind)
      if ('ok' in made) return made
      batch = { ...batch, ...made, columns: null }
    }
    if (batch.rows.length === 0) return { ok: true, bytes: 0, billedRows: 0 }
    // Gap and reset rows are free; transforms cannot create them.
    const counted = billedRowCount(batch.texts) - billedRowCount(texts.filter((_, at) => rows[at]?._kind !== 'row'))
    if (!(await affords(counted)))
      return { ok: false, message: UNPAID_MESSAGE, isNotAttempted: true, unpaidRows: counted }
    const outcome = await this.#deliver(config, batch, pipeline.account)
    return outcome.ok ? { ...outcome, billedRows: counted } : outcome
  }

  /** Runs the transforms of a pipeline. An `issue` names the transform at fault. */
  async transform(
    pipeline: Pick<Pipeline, 'id' | 'account' | 'topic' | 'transforms'>,
    parcel: BatchRows,
    id: string,
    kind: 'batch' | 'test',
  ): Promise<Pick<BatchRows, 'rows' | 'texts'> | (DeliveryFailure & { readonly issue?: Issue })> {
    const { topic, transforms } = pipeline
    const table = { name: topic, columns: TOPIC_COLUMNS.get(topic) ?? [] }
    const data = parcel.texts.filter((_, at) => parcel.rows[at]?._kind === 'row')
    const newest = parcel.rows.findLast(({ _kind }) => _kind === 'row')
    if (!newest) return parcel
    const { _height: height, _time: time } = newest
    const request = { transforms, table, defaults: { id, height, time } }
    const answer = await this.sql.run(sqlCaller(pipeline, kind), request, data).catch(() => null)
    if (answer === null) return { ok: false, message: SQL_LOST }
    if (answer.kind === 'wait')
      return { ok: false, message: answer.words, retryAfterMs: answer.waitMs, isNotAttempted: true }
    if (answer.kind === 'fault') {
      // A time limit depends on the machine, so it is worth a retry.
      const final = answer.over === 'time' ? {} : { isFinal: true as const }
      return { ...transformFailure(answer.name, answer.message), ...final }
    }
    const made = transformedRows(parcel, answer.texts, id)
    const last = Object.keys(transforms).at(-1) ?? ''
    return made.ok ? made.value : { ...transformFailure(last, made.error), isFinal: true }
  }

  async #deliver(config: DestinationConfig, batch: Batch, account: AccountId): Promise<AttemptResult> {
    switch (config.type) {
      case 'webhook':
        return sendToWebhook(config, batch, this.#egress)
      case 'r2':
        return sendToBucket(config, batch, this.#bindings.ARCHIVE)
      case 's3':
        return sendToS3(config, batch, this.#egress)
      case 'clickhouse':
        return sendToClickHouse(config, batch, this.#egress, this.#tables)
      case 'postgres': {
        const name = hyperdriveOf(config.url)
        const { PIPELINE_PRIVATE: isPlainAllowed } = this.#settings
        const server =
          name === null ? await serverOf(config, this.#egress, dial, isPlainAllowed) : this.#hyperdrive(name, account)
        if (!server.ok) return { ok: false, message: server.error }
        return sendToPostgres(server.value, config.table, batch, config.create_table)
      }
      case 'kafka':
        return sendToKafka(config, batch, this.#egress)
    }
  }

  /** The operator's Hyperdrive with this name, or the reason it may not be used. */
  #hyperdrive(name: string, account: AccountId): Result<PostgresServer, string> {
    if (!this.#settings.PIPELINE_HYPERDRIVE[name]?.includes(account))
      return err(
        `destination_config.url: this account may not use Hyperdrive ${name}; the operator allows it with PIPELINE_HYPERDRIVE`,
      )
    const { [name]: bound } = this.#bindings as Readonly<Record<string, Hyperdrive | undefined>>
    if (!bound) return err(`Hyperdrive ${name} is not bound. The operator must add it to weir.toml`)
    const { user, password, database } = bound
    // The connection to Hyperdrive stays within Cloudflare, so it needs no TLS; Hyperdrive uses TLS to the database.
    return ok({ user, password, database, tls: 'none', open: () => bound.connect() })
  }
}

function transformFailure(name: string, message: string): DeliveryFailure & { readonly issue: Issue } {
  const path = `transforms.${name}`
  return { ok: false, message: `${path}: ${message}`, issue: { path, message } }
}

const dial: Connect = (to) => connect({ ...to }, { secureTransport: 'starttls', allowHalfOpen: false })
