// What a node says of logs and blocks, checked. Law: an answer that cannot be one is an error, never fewer rows.

import * as z from 'zod'

export interface EvmHeader {
  readonly height: number
  readonly time: number
  readonly hash: string
}

export interface EvmLog {
  readonly height: number
  readonly block_hash: string
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly tx_hash: string
  readonly tx_index: number
  readonly log_index: number
  /** Unix ms of its block; null: the node does not say. */
  readonly time: number | null
}

export interface Range {
  readonly from: number
  readonly to: number
}

const hex = (pattern: string) =>
  z
    .string()
    .regex(new RegExp(`^0x${pattern}$`, 'i'))
    .toLowerCase()
const Hash = hex('[0-9a-f]{64}')
const Quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(Number)
const Header = z.object({ number: Quantity, timestamp: Quantity, hash: Hash })
const Log = z.object({
  blockNumber: Quantity,
  blockHash: Hash,
  address: hex('[0-9a-f]{40}'),
  topics: z.array(Hash).max(4),
  data: hex('[0-9a-f]*').refine(({ length }) => length % 2 === 0),
  transactionHash: Hash,
  transactionIndex: Quantity,
  logIndex: Quantity,
  blockTimestamp: Quantity.nullish(),
  removed: z.literal(false).nullish(),
})
const Logs = z.array(Log)

/** Null: the node has no such block. `height`: the one that was asked for, null where that was a tag. */
export function readHeader(result: unknown, height: number | null): EvmHeader | null {
  if (result === null) return null
  const parsed = Header.safeParse(result)
  if (!parsed.success || (height !== null && parsed.data.number !== height))
    throw new Error('the node’s answer is not the block that was asked for')
  const { number, timestamp, hash } = parsed.data
  return { height: number, time: timestamp * 1_000, hash }
}

/** In the order of the chain. */
export function readLogs(result: unknown, { from, to }: Range, addresses: readonly string[]): readonly EvmLog[] {
  const parsed = Logs.safeParse(result)
  if (!parsed.success) throw new Error('the node’s answer is no list of logs')
  const wanted = new Set(addresses)
  const logs = parsed.data.map(logOf).sort((a, b) => a.height - b.height || a.log_index - b.log_index)
  for (const [at, { height, address, block_hash, log_index }] of logs.entries()) {
    if (height < from || height > to || (wanted.size > 0 && !wanted.has(address)))
      throw new Error('the node answered with logs that were not asked for')
    const before = logs[at - 1]
    if (before?.height === height && (before.log_index === log_index || before.block_hash !== block_hash))
      throw new Error(`the node answered with two logs for one place of block ${height}`)
  }
  return logs
}

function logOf(log: z.infer<typeof Log>): EvmLog {
  return {
    height: log.blockNumber,
    block_hash: log.blockHash,
    address: log.address,
    topics: log.topics,
    data: log.data,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
    log_index: log.logIndex,
    time: log.blockTimestamp == null ? null : log.blockTimestamp * 1_000,
  }
}
