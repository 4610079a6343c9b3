// The record of a pipeline in its object, and what a changed one means for what is being delivered. Invariants: what is kept shows
// no secret; the gateway alone opens it, when it is first needed; opened, it is in memory, for the text that it was sealed in.

import { orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import type { KeptPipeline, Pipeline } from '../pipeline.ts'
import { CannotRun } from '../pipeline.ts'
import { masked, secretOf, withSecret } from '../secrets.ts'
import type { Order } from './delivery-state.ts'

export type Change = 'start' | 'end' | 'rows'

const START = ['topic', 'execution_start_from'] as const
const END = ['execution_mode', 'execution_stop_from'] as const
const ROWS = [
  ...(['filter', 'transforms', 'destination_config', 'sealed'] as const),
  ...(['abi_file', 'abi_contract_addresses', 'abi_unmatched'] as const),
]

/** In the order in which they are to be taken. */
export function changesOf(before: KeptPipeline, after: KeptPipeline): readonly Change[] {
  const differs = (names: readonly (keyof KeptPipeline)[]) =>
    names.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  // Another chain has other heights. Whoever begins anew has nothing else to change.
  if (differs(START) || (after.topic === 'evm_logs' && differs(['filter']))) return ['start']
  return [...(differs(END) ? (['end'] as const) : []), ...(differs(ROWS) ? (['rows'] as const) : [])]
}

type BatchOrder = Omit<Order, 'isRunning' | 'onFailure'>

const TABLE: BatchOrder = { rowsMost: 5_000, charsMost: 4 * 1024 * 1024, readMs: 3_000, gatherMs: 0 }
/** Servers of HTTP take bodies of a megabyte where nobody has set more. */
const POST: BatchOrder = { ...TABLE, charsMost: 512 * 1024 }
/** Each costs, and so does whoever opens many of them. */
const FILE: BatchOrder = { ...TABLE, rowsMost: 20_000, readMs: 10_000, gatherMs: 60_000 }
const ORDERS: Readonly<Record<Pipeline['destination_type'], BatchOrder>> = {
  webhook: POST,
  kafka: POST,
  r2: FILE,
  s3: FILE,
  clickhouse: TABLE,
  postgres: TABLE,
}

export function orderOf({ status, on_failure, destination_type: type }: Pipeline): Order {
  return { isRunning: status === 'running', onFailure: on_failure, ...ORDERS[type] }
}

/** For the log of the pipeline. */
export function wordsOf({ status, revision }: Pipeline, changes: readonly Change[]): string {
  const changed = changes.length > 0 ? `; changed: ${changes.join(', ')}` : ''
  return `revision ${revision}: ${status}${changed}`
}

const PATIENCE_MS = 10_000
const AWAY = 'the gateway, which opens the secret of destination_config, did not answer; it is asked again'
const LOST =
  'destination_config: its secret cannot be opened any more, because the operator changed KEY_SECRET: send it again with PATCH'

/** Of the gateway, which alone can; null where the secret is lost. */
type OpenSecret = (id: string, sealed: string) => Promise<string | null>

export class SinkRecord {
  /** Null: there is none, or none any more. */
  kept: KeptPipeline | null
  readonly #openSecret: OpenSecret
  #opened: { readonly sealed: string; readonly secret: string } | null = null

  constructor(kept: KeptPipeline | null, openSecret: OpenSecret) {
    this.kept = kept
    this.#openSecret = openSecret
  }

  take(pipeline: Pipeline, sealed: string | null): KeptPipeline {
    const { destination_config: config } = pipeline
    this.#opened = sealed ? { sealed, secret: secretOf(config) } : null
    this.kept = { ...pipeline, destination_config: masked(config), sealed }
    return this.kept
  }

  /** With its secret, for whoever sends. Throws CannotRun where that is lost. */
  async opened(): Promise<Pipeline> {
    if (this.kept === null) throw new Error('the pipeline is deleted')
    const { sealed, ...pipeline } = this.kept
    if (!sealed) return pipeline
    const opened =
      this.#opened?.sealed === sealed ? this.#opened : { sealed, secret: await this.#open(pipeline.id, sealed) }
    if (this.kept?.sealed === sealed) this.#opened = opened
    return { ...pipeline, destination_config: withSecret(pipeline.destination_config, opened.secret) }
  }

  async #open(id: string, sealed: string): Promise<string> {
    const secret = await orReject(this.#openSecret(id, sealed), PATIENCE_MS, after).catch((cause) => {
      throw new Error(AWAY, { cause })
    })
    if (secret === null) throw new CannotRun(LOST)
    return secret
  }
}
