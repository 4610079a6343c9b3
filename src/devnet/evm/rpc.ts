// POST /evm: read-only JSON-RPC 2.0, single calls and batches, with one handler per method.

import * as z from 'zod'
import { EvmBlocks, GAS_PRICE, hex, type Origin, word } from './blocks.ts'
import { CHAIN_ID, DECIMALS, SYMBOL, TOKEN } from './token.ts'

/** Maximum blocks per request. */
const MAX_RANGE_BLOCKS = 10_000
const MAX_FEE_BLOCKS = 1_024

/** The JSON-RPC error of a call. */
class EvmError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const bytes = (size: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-f]${size}$`, 'i'))
    .toLowerCase()
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
const Call = z.object({ to: Address.optional(), data: Bytes.optional(), input: Bytes.optional() })
const Count = z.union([Quantity, z.number()]).pipe(z.int().min(1).max(MAX_FEE_BLOCKS))

type Method = (blocks: EvmBlocks, params: readonly unknown[]) => unknown

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
    blocks.find(hash, 'block', (number) => blocks.block(number, isWhole)),
  ),
  eth_getTransactionByHash: method([Hash], (blocks, [hash]) =>
    blocks.find(hash, 'transaction', (number) => blocks.transaction(number)),
  ),
  eth_getTransactionReceipt: method([Hash], (blocks, [hash]) =>
    blocks.find(hash, 'transaction', (number) => blocks.receipt(number)),
  ),
  eth_getLogs: method([Filter], (blocks, [filter]) => logs(blocks, filter)),
  eth_getBalance: method([Address, Block], (blocks, [of, tag]) => hex(blocks.coins(of, existingBlock(blocks, tag)))),
  eth_getTransactionCount: method([Address, Block], (blocks, [of, tag]) =>
    hex(blocks.nonce(of, existingBlock(blocks, tag))),
  ),
  // The token's code only shows that it is a contract. It cannot be executed.
  eth_getCode: method([Address, Block], (_, [of]) => (of === TOKEN ? '0xfe' : '0x')),
  eth_call: method([Call, Block], (blocks, [{ to, data, input }, tag]) => {
    const number = existingBlock(blocks, tag)
    return to === TOKEN ? callToken(blocks, input ?? data ?? '0x', number) : '0x'
  }),
}

function method<const Params extends readonly [z.ZodType, ...z.ZodType[]]>(
  schemas: Params,
  handler: (blocks: EvmBlocks, params: { [At in keyof Params]: z.infer<Params[At]> }) => unknown,
): Method {
  return (blocks, params) => {
    const values = schemas.map((schema, index) => {
      const parsed = schema.safeParse(params[index])
      if (parsed.success) return parsed.data
      throw new EvmError(-32602, `params.${index}: ${parsed.error.issues[0]!.message}`)
    })
    return handler(blocks, values as never)
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
  const one = blockHash === undefined ? null : blocks.find(blockHash, 'block', (number) => number)
  if (blockHash !== undefined && one === null) throw new EvmError(-32000, 'unknown block')
  const from = one ?? at(blocks, fromBlock)
  const to = one ?? Math.min(at(blocks, toBlock), blocks.head)
  if (to - from >= MAX_RANGE_BLOCKS) throw new EvmError(-32602, `at most ${MAX_RANGE_BLOCKS} blocks per request`)
  if (address && address.length > 0 && !address.includes(TOKEN)) return []
  const filters = topics.map((any) => (any && any.length > 0 ? any : null))
  return [...blocks.logs(from, to)].filter((log) =>
    filters.every((any, n) => any?.includes(log.topics[n] ?? '') ?? true),
  )
}

/** Returns the token's result for a call. The function selector is the first four bytes of the signature's hash. */
function callToken(blocks: EvmBlocks, input: string, number: number): string {
  switch (input.slice(0, 10)) {
    case '0x70a08231':
      return `0x${word(blocks.balance(`0x${input.slice(34, 74)}`, number))}`
    case '0x18160ddd':
      return `0x${word(blocks.supply(number))}`
    case '0x313ce567':
      return `0x${word(BigInt(DECIMALS))}`
    case '0x95d89b41':
      return `0x${word(32n)}${word(BigInt(SYMBOL.length))}${textHex(SYMBOL).padEnd(64, '0')}`
    default:
      throw new EvmError(3, 'execution reverted')
  }
}

const textHex = (ascii: string) => Array.from(ascii, (char) => char.charCodeAt(0).toString(16)).join('')

const MAX_BATCH = 100

const Request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})

const errorResponse = (id: unknown, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })

/** Handles a parsed JSON body. */
export function handleEvm(x: Origin, body: unknown): unknown {
  const blocks = new EvmBlocks(x)
  if (!Array.isArray(body)) return handleCall(blocks, body)
  if (body.length === 0 || body.length > MAX_BATCH)
    return errorResponse(null, -32600, `a batch has 1 to ${MAX_BATCH} calls`)
  return body.map((call) => handleCall(blocks, call))
}

function handleCall(blocks: EvmBlocks, body: unknown): unknown {
  const parsed = Request.safeParse(body)
  if (!parsed.success) return errorResponse(null, -32600, 'invalid request')
  const { id, method, params } = parsed.data
  const handler = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (handler === undefined) return errorResponse(id, -32601, `the method ${method} does not exist`)
  try {
    return { jsonrpc: '2.0', id, result: handler(blocks, params) }
  } catch (error) {
    if (error instanceof EvmError) return errorResponse(id, error.code, error.message)
    throw error
  }
}
