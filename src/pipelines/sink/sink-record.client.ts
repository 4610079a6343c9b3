// The pipeline record of a Sink, and which parts of a delivery a change affects. Invariants: the stored record contains
// no unencrypted secret; only the gateway decrypts the secret, on first use; the decrypted secret stays in memory,
// together with the encrypted value it belongs to.

import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { Pipeline, StoredPipeline } from '../pipeline.ts'
import { FatalPipelineError, isOtherChain } from '../pipeline.ts'
import { masked, secretOf, withSecret } from '../secrets.ts'
import type { DesiredState, RecordChange } from './delivery-state.ts'

const START_FIELDS = ['topic', 'execution_start_from'] as const
const END_FIELDS = ['execution_mode', 'execution_stop_from'] as const
const ROW_FIELDS = [
  ...(['filter', 'transforms', 'destination_config', 'sealed'] as const),
  ...(['abi_file', 'abi_contract_addresses', 'abi_unmatched'] as const),
]

/** In the order in which they apply. */
export function changesOf(before: StoredPipeline, after: StoredPipeline): readonly RecordChange[] {
  const differs = (names: readonly (keyof StoredPipeline)[]) =>
    names.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  // A restart covers all other changes.
  if (isOtherChain(before, after)) return ['chain']
  if (differs(START_FIELDS)) return ['start']
  return [...(differs(END_FIELDS) ? (['end'] as const) : []), ...(differs(ROW_FIELDS) ? (['rows'] as const) : [])]
}

type BatchSettings = Omit<DesiredState, 'isRunning' | 'onFailure'>

const TABLE_SETTINGS: BatchSettings = { maxRows: 5_000, maxChars: 4 * 1024 * 1024, readMs: 3_000, gatherMs: 0 }
/** HTTP servers commonly accept bodies up to 1 MB. */
const POST_SETTINGS: BatchSettings = { ...TABLE_SETTINGS, maxChars: 512 * 1024 }
/** Writing and opening an object each have a fixed cost, so objects should be large. */
const FILE_SETTINGS: BatchSettings = { ...TABLE_SETTINGS, maxRows: 20_000, readMs: 10_000, gatherMs: 60_000 }
const BATCH_SETTINGS: Readonly<Record<Pipeline['destination_type'], BatchSettings>> = {
  webhook: POST_SETTINGS,
  kafka: POST_SETTINGS,
  r2: FILE_SETTINGS,
  s3: FILE_SETTINGS,
  clickhouse: TABLE_SETTINGS,
  postgres: TABLE_SETTINGS,
}

export function desiredStateOf({ status, on_failure, destination_type: type }: Pipeline): DesiredState {
  return { isRunning: status === 'running', onFailure: on_failure, ...BATCH_SETTINGS[type] }
}

/** Log line about a change. */
export function changeMessage({ status, revision }: Pipeline, changes: readonly RecordChange[]): string {
  const changed = changes.length > 0 ? `; changed: ${changes.join(', ')}` : ''
  return `revision ${revision}: ${status}${changed}`
}

const TIMEOUT_MS = 10_000
const GATEWAY_UNAVAILABLE = 'The gateway did not decrypt the secret of destination_config in time. Retrying'
const SECRET_LOST =
  'destination_config: the stored secret cannot be decrypted because the operator changed KEY_SECRET. Send it again with PATCH'

/** Decrypts a secret in the gateway; null: the secret is lost. */
type OpenSecret = (id: string, sealed: string) => Promise<string | null>

export class SinkRecord {
  /** Null: no pipeline, or a deleted one. */
  stored: StoredPipeline | null
  readonly #openSecret: OpenSecret
  #clearSecret: { readonly sealed: string; readonly secret: string } | null = null

  constructor(kept: StoredPipeline | null, openSecret: OpenSecret) {
    this.stored = kept
    this.#openSecret = openSecret
  }

  store(pipeline: Pipeline, sealed: string | null): StoredPipeline {
    const { destination_config: config } = pipeline
    this.#clearSecret = sealed ? { sealed, secret: secretOf(config) } : null
    this.stored = { ...pipeline, destination_config: masked(config), sealed }
    return this.stored
  }

  /** The pipeline with its secret. Throws FatalPipelineError if the secret is lost. */
  async open(): Promise<Pipeline> {
    if (this.stored === null) throw new Error('The pipeline has been deleted')
    const { sealed, ...pipeline } = this.stored
    if (!sealed) return pipeline
    const opened =
      this.#clearSecret?.sealed === sealed
        ? this.#clearSecret
        : { sealed, secret: await this.#decrypt(pipeline.id, sealed) }
    if (this.stored?.sealed === sealed) this.#clearSecret = opened
    return { ...pipeline, destination_config: withSecret(pipeline.destination_config, opened.secret) }
  }

  async #decrypt(id: string, sealed: string): Promise<string> {
    const secret = await orReject(this.#openSecret(id, sealed), TIMEOUT_MS, after).catch((cause) => {
      throw new Error(GATEWAY_UNAVAILABLE, { cause })
    })
    if (secret === null) throw new FatalPipelineError(SECRET_LOST)
    return secret
  }
}
