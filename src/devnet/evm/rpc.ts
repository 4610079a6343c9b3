// POST /evm: JSON-RPC 2.0, single calls and batches, with one handler per method.

import * as z from 'zod'
import { EvmBlocks, GAS_PRICE, GAS_USED, hex } from './blocks.ts'
import { MULTICALL, readCall, stateAt } from './contract-call.ts'
import { EvmError } from './evm-error.ts'
import { type EvmNode, submit } from './submission.ts'
import { CHAIN_ID, NOBODY, TOKEN } from './token.ts'

/** Maximum blocks per request. */
const MAX_RANGE_BLOCKS = 10_000
const MAX_FEE_BLOCKS = 1_024

const bytes = (size: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-f]${size}$`, 'i'))
    .transform((text) => text.toLowerCase() as `0x${string}`)
const Address = bytes('{40}')
const Hash = bytes('{64}')
const Bytes = bytes('*')
const Quantity = bytes('{1,13}').transform(Number)
const Block = z.union([z.enum(['latest', 'safe', 'finalized', 'pending', 'earliest']), Quantity]).default('latest')
type Block = z.infer<typeof Block>
const IsWhole = z.boolean().default(false)
const oneOrMore = <T extends z.ZodType>(schema: T) =>
  z.union([schema.transform((one) => [one]), z.array(schema)]).nullish()
const Filter = z.object({
  fromBlock: Block,
  toBlock: Block,
  blockHash: Hash.optional(),
  address: oneOrMore(Address),
  topics: z.array(oneOrMore(Hash)).max(4).default([]),
})
const Call = z
  .object({ from: Address.default(NOBODY), to: Address.nullish(), data: Bytes.optional(), input: Bytes.optional() })
  .transform(({ data, input = data ?? '0x', ...call }) => ({ ...call, input }))
const Count = z.union([Quantity, z.number()]).pipe(z.int().min(1).max(MAX_FEE_BLOCKS))

type Method = (blocks: EvmBlocks, params: readonly unknown[], node: EvmNode) => unknown

const METHODS: Readonly<Record<string, Method>> = {
  eth_chainId: () => hex(CHAIN_ID),
  net_version: () => String(CHAIN_ID),
  web3_clientVersion: () => 'weir-devnet',
  eth_blockNumber: ({ head }) => hex(head),
  eth_gasPrice: () => hex(GAS_PRICE),
  eth_maxPriorityFeePerGas: () => '0x0',
  eth_feeHistory: method([Count, Block], (blocks, [count, tag]) => fees(count, existingBlock(blocks, tag))),
  eth_getBlockByNumber: method([Block, IsWhole], (blocks, [tag, isWhole]) => blocks.block(at(blocks, tag), isWhole)),
  eth_getBlockByHash: method([Hash, IsWhole], (blocks, [hash, isWhole]) =>
    blocks.block(blocks.findBlock(hash) ?? Number.POSITIVE_INFINITY, isWhole),
  ),
  eth_getTransactionByHash: method([Hash], (blocks, [hash]) => {
    const place = blocks.findTransaction(hash)
    return place && blocks.transaction(place.number, place.index)
  }),
  eth_getTransactionReceipt: method([Hash], (blocks, [hash]) => {
    const place = blocks.findTransaction(hash)
    return place && blocks.receipt(place.number, place.index)
  }),
  eth_getLogs: method([Filter], (blocks, [filter]) => logs(blocks, filter)),
  eth_getBalance: method([Address, Block], (blocks, [of, tag]) => hex(blocks.coins(of, existingBlock(blocks, tag)))),
  eth_getTransactionCount: method([Address, Block], (blocks, [of, tag]) =>
    hex(blocks.nonce(of, tag === 'pending' ? blocks.next : existingBlock(blocks, tag))),
  ),
  // The code only shows that an address is a contract. It cannot be executed.
  eth_getCode: method([Address, Block], (_, [of]) => (of === TOKEN || of === MULTICALL ? '0xfe' : '0x')),
  eth_call: method([Call, Block], async (blocks, [{ from, to, input }, tag]) => {
    const state = stateAt(blocks, existingBlock(blocks, tag))
    return (await readCall(to, input))(state, from).output
  }),
  eth_estimateGas: method([Call], async (blocks, [{ from, to, input }]) => {
    const call = await readCall(to, input)
    call(stateAt(blocks, blocks.next), from)
    return hex(GAS_USED)
  }),
  eth_sendRawTransaction: method([Bytes], (_, [raw], node) => submit(node, raw)),
}

function method<const Params extends readonly [z.ZodType, ...z.ZodType[]]>(
  schemas: Params,
  handler: (blocks: EvmBlocks, params: { [At in keyof Params]: z.infer<Params[At]> }, node: EvmNode) => unknown,
): Method {
  return (blocks, params, node) => {
    const values = schemas.map((schema, index) => {
      const parsed = schema.safeParse(params[index])
      if (parsed.success) return parsed.data
      throw new EvmError(-32602, `params.${index}: ${parsed.error.issues[0]!.message}`)
    })
    return handler(blocks, values as never, node)
  }
}

const at = ({ head }: EvmBlocks, tag: Block) => (typeof tag === 'number' ? tag : tag === 'earliest' ? 0 : head)

function existingBlock(blocks: EvmBlocks, tag: Block): number {
  const number = at(blocks, tag)
  if (number > blocks.head) throw new EvmError(-32000, 'header not found')
  return number
}

function fees(count: number, newest: number) {
  const oldest = Math.max(0, newest - count + 1)
  const each = Array.from({ length: newest - oldest + 1 }, () => hex(GAS_PRICE))
  return { oldestBlock: hex(oldest), baseFeePerGas: [...each, hex(GAS_PRICE)], gasUsedRatio: each.map(() => 0) }
}

function logs(blocks: EvmBlocks, { fromBlock, toBlock, blockHash, address, topics }: z.infer<typeof Filter>) {
  const one = blockHash === undefined ? null : blocks.findBlock(blockHash)
  if (blockHash !== undefined && one === null) throw new EvmError(-32000, 'unknown block')
  const from = one ?? at(blocks, fromBlock)
  const to = one ?? Math.min(at(blocks, toBlock), blocks.head)
  if (to - from >= MAX_RANGE_BLOCKS) throw new EvmError(-32602, `at most ${MAX_RANGE_BLOCKS} blocks per request`)
  if (address && address.length > 0 && !address.includes(TOKEN)) return []
  const filters = topics.map((any) => (any && any.length > 0 ? any : null))
  const isWanted = (topics: readonly string[]) =>
    filters.every((any, n) => any?.some((topic) => topic === topics[n]) ?? true)
  return [...blocks.logs(from, to, isWanted)]
}

const MAX_BATCH = 100

const Request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})

const errorResponse = (id: unknown, code: number, message: string, data?: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data !== undefined && { data }) },
})

/** Handles a parsed JSON body. The calls of a batch see the effects of the calls before them. */
export async function handleEvm(node: EvmNode, body: unknown): Promise<unknown> {
  if (!Array.isArray(body)) return handleCall(node, body)
  if (body.length === 0 || body.length > MAX_BATCH)
    return errorResponse(null, -32600, `a batch has 1 to ${MAX_BATCH} calls`)
  const results: unknown[] = []
  for (const call of body) results.push(await handleCall(node, call))
  return results
}

async function handleCall(node: EvmNode, body: unknown): Promise<unknown> {
  const parsed = Request.safeParse(body)
  if (!parsed.success) return errorResponse(null, -32600, 'invalid request')
  const { id, method, params } = parsed.data
  const handler = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (handler === undefined) return errorResponse(id, -32601, `the method ${method} does not exist`)
  try {
    return { jsonrpc: '2.0', id, result: await handler(new EvmBlocks(node.origin, node.ledger), params, node) }
  } catch (error) {
    if (error instanceof EvmError) return errorResponse(id, error.code, error.message, error.data)
    throw error
  }
}
