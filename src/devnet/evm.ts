// POST /evm: the JSON-RPC methods of the stand-in. EVM blocks are the exchange's blocks, empty.

import * as z from 'zod'
import type { Exchange } from './exchange/exchange.ts'
import { Prng, seedState } from './exchange/prng.ts'

const CHAIN_ID = 999
const MAX_BATCH = 100
/** Times of this many last blocks are kept to answer for them. */
const KEPT_BLOCKS = 1_024

const Call = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
const BlockTag = z.union([
  z.enum(['latest', 'safe', 'finalized', 'pending', 'earliest']),
  z.string().regex(/^0x[0-9a-f]{1,13}$/i),
])

/** Times of the last blocks by height, oldest dropped. */
export class RecentTimes {
  readonly #times = new Map<number, number>()

  add(height: number, timeMs: number): void {
    this.#times.set(height, timeMs)
    this.#times.delete(height - KEPT_BLOCKS)
  }

  at(height: number): number | undefined {
    return this.#times.get(height)
  }
}

const hex = (n: number) => `0x${n.toString(16)}`
const failed = (id: unknown, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })

/** Answers a parsed JSON body, single call or batch. */
export function answerEvm(x: Exchange, times: RecentTimes, body: unknown): unknown {
  if (!Array.isArray(body)) return answerCall(x, times, body)
  if (body.length === 0 || body.length > MAX_BATCH) return failed(null, -32600, `a batch has 1 to ${MAX_BATCH} calls`)
  return body.map((call) => answerCall(x, times, call))
}

function answerCall(x: Exchange, times: RecentTimes, body: unknown): unknown {
  const parsed = Call.safeParse(body)
  if (!parsed.success) return failed(null, -32600, 'invalid request')
  const { id, method, params } = parsed.data
  const result = (value: unknown) => ({ jsonrpc: '2.0', id, result: value })
  if (method === 'eth_blockNumber') return result(hex(x.height))
  if (method === 'eth_chainId') return result(hex(CHAIN_ID))
  if (method === 'eth_getLogs') return result([])
  if (method !== 'eth_getBlockByNumber') return failed(id, -32601, `the method ${method} does not exist`)
  const tag = BlockTag.safeParse(params[0])
  if (!tag.success) return failed(id, -32602, 'params[0] must be a block number or tag')
  const height = tag.data === 'earliest' ? 0 : tag.data.startsWith('0x') ? Number(tag.data) : x.height
  return result(ethBlock(x, times, height))
}

const blockHash = (seed: number, height: number) => `0x${new Prng(seedState(seed + height * 2 ** 21)).hex(32)}`

/** Null: a block that is not there yet or whose time is no longer known. */
function ethBlock(x: Exchange, times: RecentTimes, height: number) {
  const timeMs = times.at(height)
  if (timeMs === undefined) return null
  const zeros = (bytes: number) => `0x${'0'.repeat(bytes * 2)}`
  return {
    number: hex(height),
    hash: blockHash(x.seed, height),
    parentHash: height === 0 ? zeros(32) : blockHash(x.seed, height - 1),
    timestamp: hex(Math.floor(timeMs / 1000)),
    gasLimit: hex(2_000_000),
    gasUsed: '0x0',
    baseFeePerGas: hex(100_000_000),
    difficulty: '0x0',
    extraData: '0x',
    logsBloom: zeros(256),
    miner: zeros(20),
    mixHash: zeros(32),
    nonce: zeros(8),
    receiptsRoot: zeros(32),
    sha3Uncles: zeros(32),
    size: '0x0',
    stateRoot: zeros(32),
    transactions: [],
    transactionsRoot: zeros(32),
    uncles: [],
  }
}
