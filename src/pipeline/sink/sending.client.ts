// What a Sink sends: batches through their transforms to the destination, and dead letters once more.

import { err, ok, type Result } from '../../core/result.ts'
import { Egress } from '../../egress/egress.client.ts'
import type { EgressSettings } from '../../egress/egress-settings.ts'
import { type Batch, batchId, type Sent } from '../batch.ts'
import { ClickHouseTables } from '../destinations/clickhouse-table.client.ts'
import { sendBatch } from '../destinations/send.client.ts'
import type { Pipeline } from '../pipeline.ts'
import { TOPIC_COLUMNS } from '../topics/catalogue.ts'
import { DeadLetters } from './dead-letters.store.ts'
import type { DeliveryPorts, Parcel } from './delivery-state.ts'
import { wordsOfError } from './error-words.ts'
import { countedRows } from './owed.ts'
import type { SinkSettings } from './sink-settings.ts'
import { transformed } from './transforms.client.ts'

type Settings = EgressSettings & Pick<SinkSettings, 'PIPELINE_HYPERDRIVE'>
/** The operator's bucket, and Hyperdrives by their names. */
type Bindings = { readonly ARCHIVE?: R2Bucket } & object

export class Sending {
  readonly #settings: Settings
  readonly #bindings: Bindings
  readonly #egress: Egress
  readonly #tables = new ClickHouseTables()

  constructor(settings: Settings, bindings: Bindings) {
    this.#settings = settings
    this.#bindings = bindings
    this.#egress = new Egress(settings)
  }

  /** Null where there is no bucket for them. */
  letters(pipeline: string): DeadLetters | null {
    const { ARCHIVE: bucket } = this.#bindings
    return bucket && pipeline ? new DeadLetters(bucket, pipeline) : null
  }

  /** The oldest dead letter behind `after`, sent once more; null: there is none. */
  async unburied(pipeline: Pipeline, after: string | null): ReturnType<DeliveryPorts['unbury']> {
    const letters = this.letters(pipeline.id)
    const key = await letters?.next(after)
    if (!letters || !key) return null
    try {
      const parcel = await letters.read(key)
      const { from, to, rows } = parcel
      const outcome = await this.sent(pipeline, parcel, batchId(pipeline.id, from, to))
      return outcome.ok ? { ...outcome, key, from, to, rows: rows.length } : { ...outcome, key }
    } catch (error) {
      return { ok: false, words: wordsOfError(error), key }
    }
  }

  /** Transforms and sends. */
  async sent(pipeline: Pipeline, parcel: Parcel, id: string): Promise<Sent> {
    const { topic, transforms, destination_config: config } = pipeline
    const columns = TOPIC_COLUMNS.get(topic) ?? []
    const { from, to, rows, texts } = parcel
    let batch: Batch = { id, pipeline: pipeline.id, topic, from, to, rows, texts, columns }
    if (Object.keys(transforms).length > 0) {
      const made = await transformed(transforms, topic, columns, { rows, texts, id: batchId(pipeline.id, from, to) })
      if (!made.ok) return { ok: false, words: `transforms.${made.error.name}: ${made.error.message}`, isFinal: true }
      batch = { ...batch, ...made.value, columns: null }
    }
    if (batch.rows.length === 0) return { ok: true, bytes: 0, countedRows: 0 }
    const outcome = await sendBatch(config, batch, {
      ...{ egress: this.#egress, tables: this.#tables, bucket: this.#bindings.ARCHIVE },
      isPrivateAllowed: this.#settings.PIPELINE_PRIVATE,
      hyperdrive: (name) => this.#hyperdrive(name, pipeline.account),
    })
    // Notes are free, and no transform makes one.
    const notes = texts.filter((_, at) => rows[at]!._kind !== 'row')
    return outcome.ok ? { ...outcome, countedRows: countedRows(batch.texts) - countedRows(notes) } : outcome
  }

  #hyperdrive(name: string, account: string): Result<Hyperdrive, string> {
    if (!this.#settings.PIPELINE_HYPERDRIVE[name]?.includes(account))
      return err(`destination_config.url: the operator allows this account no Hyperdrive ${name} (PIPELINE_HYPERDRIVE)`)
    const { [name]: bound } = this.#bindings as Readonly<Record<string, Hyperdrive | undefined>>
    return bound ? ok(bound) : err(`no Hyperdrive ${name} is bound here: wrangler.live.toml must have it`)
  }
}
