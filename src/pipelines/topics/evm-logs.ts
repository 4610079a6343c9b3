// evm_logs: the logs of contracts of a chain of JSON-RPC, each with what the ABI makes of it. The heights are those of that chain.

import type { Column } from '../../archive/files/columns.ts'
import type { AbiDecoder } from '../evm/decode.ts'
import type { EvmLog } from '../evm/evm-chain.ts'
import type { PipelineFields } from '../pipeline.ts'
import { FatalPipelineError } from '../pipeline.ts'
import { keyedRows, type TopicBlock, type TopicFold } from './topic.ts'

/** A block that was read, which must still be there when later ones are. */
export interface Anchor {
  readonly height: number
  readonly hash: string
}

interface EvmBlock extends TopicBlock {
  /** Null where nobody asked. */
  readonly hash: string | null
  readonly logs: readonly EvmLog[]
}

export const EVM_COLUMNS: readonly Column[] = [
  { name: 'chain', type: 'text' },
  { name: 'address', type: 'text' },
  ...['event', 'signature'].map((name) => ({ name, type: 'text', isOptional: true }) as const),
  { name: 'args', type: 'json', isOptional: true },
  ...['topic0', 'topic1', 'topic2', 'topic3'].map((name) => ({ name, type: 'text', isOptional: true }) as const),
  ...['data', 'block_hash', 'tx_hash'].map((name) => ({ name, type: 'text' }) as const),
  ...['tx_index', 'log_index'].map((name) => ({ name, type: 'whole' }) as const),
]

export function readAnchor(fold: string | null): Anchor | null {
  return fold === null ? null : (JSON.parse(fold) as Anchor)
}

/** `unmatched`: what becomes of logs that the ABI does not have. */
export function evmFold(
  chain: string,
  decoder: AbiDecoder,
  unmatched: PipelineFields['abi_unmatched'],
  before: string | null,
): TopicFold<EvmBlock> {
  let anchor = readAnchor(before)
  const rowOf = (log: EvmLog) => {
    const { address, topics, data, block_hash, tx_hash, tx_index, log_index } = log
    const decoded = decoder.decode(topics, data)
    if (decoded === null && unmatched === 'drop') return []
    if (decoded === null && unmatched === 'fail')
      throw new FatalPipelineError(
        `abi_file: log ${log_index} of block ${log.height}, of ${address} with topic ${topics[0] ?? 'none'}, is none of its events, ` +
          'or has other data, and abi_unmatched is "fail"',
      )
    const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = topics
    const { event = null, signature = null, args = null } = decoded ?? {}
    const cells = {
      chain,
      address,
      event,
      signature,
      args,
      topic0,
      topic1,
      topic2,
      topic3,
      data,
      block_hash,
      tx_hash,
      tx_index,
      log_index,
    }
    return [[`${block_hash}:${log_index}`, cells] as const]
  }
  return {
    parse: (line) => JSON.parse(line) as EvmBlock,
    rows: (block) => {
      const rows = keyedRows(block, block.logs.flatMap(rowOf))
      if (block.hash !== null) anchor = { height: block.height, hash: block.hash }
      return rows
    },
    state: () => anchor && JSON.stringify(anchor),
  }
}
