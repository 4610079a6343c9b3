// What a changed record means for what is being delivered.

import type { KeptPipeline, Pipeline } from '../pipeline.ts'
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
