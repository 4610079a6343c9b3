// Decides how long a response stays valid: always, always once its block is final, only while its block is the newest,
// or never.

import type { RpcCall } from './calls.ts'

/** `ever`: immutable; `final`: immutable once its block is final; `newest`: valid while its block is the newest. */
export type CacheLifetime = 'ever' | 'final' | 'newest' | 'never'

/** Position of the block parameter in methods that default to the newest block; -1 if a method has no parameters. */
const BLOCK_PARAM: ReadonlyMap<string, number> = new Map([
  ['eth_blockNumber', -1],
  ['eth_gasPrice', -1],
  ['eth_maxPriorityFeePerGas', -1],
  ['eth_blobBaseFee', -1],
  ['eth_feeHistory', 1],
  ['eth_getBlockByNumber', 0],
  ['eth_getBlockReceipts', 0],
  ['eth_getBlockTransactionCountByNumber', 0],
  ['eth_getBalance', 1],
  ['eth_getCode', 1],
  ['eth_getTransactionCount', 1],
  ['eth_getStorageAt', 2],
  ['eth_call', 1],
])
const OF_CHAIN = ['eth_chainId', 'net_version']
const NEWEST = ['latest', 'safe', 'finalized', undefined, null]
const BY_HASH = ['eth_getBlockByHash', 'eth_getBlockReceipts']
const BY_NUMBER = ['eth_getBlockByNumber', 'eth_getBlockReceipts']
const RECEIPT = 'eth_getTransactionReceipt'
const CACHEABLE: ReadonlySet<string> = new Set([...OF_CHAIN, ...BY_HASH, ...BY_NUMBER, RECEIPT, ...BLOCK_PARAM.keys()])
const HASH = /^0x[0-9a-f]{64}$/i
const QUANTITY = /^0x[0-9a-f]{1,13}$/i

/** Methods that are known not to write. Other methods that an operator allows may write. */
const READS = /^(?:eth_(?!(?:re)?send|submit)|net_|web3_|trace_|txpool_|debug_(?:trace|get))/i

/** A write is sent once and never repeated, because the first attempt may have arrived. */
export const isWrite = (method: string): boolean => !READS.test(method)

export function cacheLifetimeOf({ method, values }: Pick<RpcCall, 'method' | 'values'>): CacheLifetime {
  if (!CACHEABLE.has(method)) return 'never'
  const list: readonly unknown[] | null = Array.isArray(values) ? values : (values ?? null) === null ? [] : null
  if (list === null) return 'never'
  if (OF_CHAIN.includes(method)) return list.length === 0 ? 'ever' : 'never'
  if (method === RECEIPT) return 'final'
  const [block] = list
  if (typeof block === 'string' && BY_HASH.includes(method) && HASH.test(block)) return 'ever'
  if (typeof block === 'string' && BY_NUMBER.includes(method) && QUANTITY.test(block)) return 'final'
  const at = BLOCK_PARAM.get(method)
  if (at === undefined) return 'never'
  return at === -1 || NEWEST.includes(list[at] as string | undefined) ? 'newest' : 'never'
}

/** Block height in a result; null if it has none. */
export function heightOf(method: string, result: unknown): number | null {
  if (method === 'eth_blockNumber') return quantity(result)
  if (method === 'eth_getBlockByNumber') return quantity((result as { number?: unknown } | null)?.number)
  if (method === RECEIPT) return quantity((result as { blockNumber?: unknown } | null)?.blockNumber)
  if (method !== 'eth_getBlockReceipts') return null
  const [first] = Array.isArray(result) ? (result as readonly ({ blockNumber?: unknown } | null)[]) : []
  return quantity(first?.blockNumber)
}

function quantity(value: unknown): number | null {
  return typeof value === 'string' && QUANTITY.test(value) ? Number(value) : null
}
