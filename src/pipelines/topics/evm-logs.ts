// evm_logs: contract logs of a JSON-RPC chain, decoded by the ABI. Heights are those of that chain.

import type { Column } from '../../archive/files/columns.ts'
import type { AbiDecoder } from '../evm/decode.ts'
import type { EvmLog } from '../evm/evm-chain.ts'
import type { PipelineFields } from '../pipeline.ts'
import { FatalPipelineError } from '../pipeline.ts'
import { keyedRows, type TopicBlock, type TopicFold } from './topic.ts'

/** The last block read. It must be unchanged when later ones are read. */
export interface Anchor {
  readonly height: number
  readonly hash: string
}

interface EvmBlock extends TopicBlock {
  /** Null: not requested. */
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

/** `unmatched`: handling of logs that the ABI does not contain. */
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
        `abi_file: log ${log_index} of block ${log.height} (address ${address}, topic ${topics[0] ?? 'none'}) does not match any event, ` +
          'and abi_unmatched is "fail"',
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
