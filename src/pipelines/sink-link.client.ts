// From the record of a pipeline to the object that runs it. Laws: the row says which revision the object is known to
// have; an object that was told of a pipeline after it was deleted is emptied again; secrets are opened for it alone.

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
  /** The object that runs a pipeline. */
  readonly sinkOf: (id: string) => SinkApi
  readonly after: After
  /** An object failed; whoever asked is told that it did not answer. */
  readonly report: (error: unknown) => void
}

const RESPONSE_TIMEOUT_MS = 10_000

export const isSynced = ({ sentRevision, revision }: PipelineRow) => sentRevision >= revision

export class SinkLink {
  readonly #ports: SinkLinkPorts

  constructor(ports: SinkLinkPorts) {
    this.#ports = ports
  }

  /** Null where its secret cannot be opened. */
  async toPipeline({ id, account, fields, sealed, revision, ...row }: PipelineRow): Promise<Pipeline | null> {
    const secret = sealed === null ? '' : await unseal(sealed, id, this.#ports.keySecret)
    if (secret === null) return null
    const created_at = new Date(row.createdMs).toISOString()
    const updated_at = new Date(row.updatedMs).toISOString()
    const destination_config = withSecret(fields.destination_config, secret)
    const { payer, payerName: payer_name } = row
    return { ...fields, destination_config, id, account, payer, payer_name, revision, created_at, updated_at }
  }

  /** The row, after its object was told of it where that was not known to have it. */
  async sync(row: PipelineRow): Promise<PipelineRow> {
    if (isSynced(row)) return row
    const pipeline = await this.toPipeline(row)
    const isTold =
      pipeline !== null &&
      (await this.call(row.id, async (sink) => {
        await sink.apply({ v: SINK_API_VERSION, pipeline, sealed: row.sealed })
        // Deleted meanwhile, perhaps after its object had been emptied.
        if (!(await this.#ports.store.setSentRevision(row.id, row.revision))) await sink.drop()
        return true
      }))
    return isTold ? { ...row, sentRevision: row.revision } : row
  }

  /** Null where it failed or did not answer. */
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
