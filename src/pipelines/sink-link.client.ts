// Synchronizes pipeline records with their Sink objects. Invariants: the row records which revision the object is known
// to have; an object that receives a pipeline after its deletion is emptied again; secrets are decrypted only for that
// object.

import { type After, orReject } from '../core/deadline.ts'
import type { Pipeline } from './pipeline.ts'
import type { PipelineRow } from './pipeline-row.ts'
import type { PipelineStore } from './pipelines.store.ts'
import { unseal } from './sealing.client.ts'
import { withSecret } from './secrets.ts'
import { SINK_API_VERSION, type SinkApi } from './sink-api.ts'

export interface SinkLinkPorts {
  readonly store: PipelineStore
  readonly keySecret: string
  readonly sinkOf: (id: string) => SinkApi
  readonly after: After
  /** Reports an object failure. Callers only see a missing response. */
  readonly report: (error: unknown) => void
}

const RESPONSE_TIMEOUT_MS = 10_000

export const isSynced = ({ sentRevision, revision }: PipelineRow) => sentRevision >= revision

export class SinkLink {
  readonly #ports: SinkLinkPorts

  constructor(ports: SinkLinkPorts) {
    this.#ports = ports
  }

  /** Null if the secret cannot be decrypted. */
  async toPipeline({ id, account, fields, sealed, revision, ...row }: PipelineRow): Promise<Pipeline | null> {
    const secret = sealed === null ? '' : await unseal(sealed, id, this.#ports.keySecret)
    if (secret === null) return null
    const created_at = new Date(row.createdMs).toISOString()
    const updated_at = new Date(row.updatedMs).toISOString()
    const destination_config = withSecret(fields.destination_config, secret)
    const { payer, payerName: payer_name } = row
    return { ...fields, destination_config, id, account, payer, payer_name, revision, created_at, updated_at }
  }

  /** Sends the row to its object if needed; returns the row with the revision that the object has. */
  async sync(row: PipelineRow): Promise<PipelineRow> {
    if (isSynced(row)) return row
    const pipeline = await this.toPipeline(row)
    const isTold =
      pipeline !== null &&
      (await this.call(row.id, async (sink) => {
        await sink.apply({ v: SINK_API_VERSION, pipeline, sealed: row.sealed })
        // The pipeline was deleted in the meantime, and its object may have been emptied before this call.
        if (!(await this.#ports.store.setSentRevision(row.id, row.revision))) await sink.drop()
        return true
      }))
    return isTold ? { ...row, sentRevision: row.revision } : row
  }

  /** Null if the call failed or timed out. */
  async call<Answer>(
    id: string,
    ask: (sink: SinkApi) => Promise<Answer>,
    ms: number = RESPONSE_TIMEOUT_MS,
  ): Promise<Answer | null> {
    const { sinkOf, after, report } = this.#ports
    try {
      return await orReject(ask(sinkOf(id)), ms, after)
    } catch (error) {
      report(error)
      return null
    }
  }
}
