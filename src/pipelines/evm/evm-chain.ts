// Reads a JSON-RPC chain for a pipeline: final height, blocks, and logs in ranges as large as the nodes allow.
// Invariants: one request at a time, and the head at most every two seconds; a refused range is split; an implausible
// response is an error and never loses rows.

import * as z from 'zod'
import { failureMessage } from '../../core/failure.ts'
import type { RpcChain } from '../../rpc/chains.ts'
import type { ReplyResult, RpcUpstream } from '../../rpc/rpc-upstream.ts'

/** Filter of logs; empty lists match all. */
export interface LogQuery {
  readonly addresses: readonly string[]
  readonly topics: readonly string[]
}

/** Logs of a range, its last block and the anchor block. */
export interface LogPage extends Range {
  readonly logs: readonly EvmLog[]
  readonly last: EvmHeader
  readonly anchor: EvmHeader | null
}

const HEAD_CACHE_MS = 2_000
/** Blocks of one request: initial and maximum. */
const INITIAL_BLOCKS = 500
const MAX_BLOCKS = 10_000
/** Ranges shrink above this number of logs, even if the node returns more. */
const MAX_LOGS = 5_000
/** Each response lists all transactions of the block. */
const HEADERS_PER_BATCH = 50
const MAX_MESSAGE_CHARS = 200

type Call = Parameters<RpcUpstream['request']>[0][number]

const hex = (height: number) => `0x${height.toString(16)}`
const blockCall = (block: string): Call => ({ method: 'eth_getBlockByNumber', params: JSON.stringify([block, false]) })

export class EvmChain {
  readonly name: string
  readonly #finalityBlocks: number | undefined
  readonly #request: RpcUpstream['request']
  readonly #nowMs: () => number
  #head: EvmHeader | null = null
  #headMs = Number.NEGATIVE_INFINITY
  #rangeBlocks = INITIAL_BLOCKS
  #wasRefused = false

  constructor(
    { name, finalityBlocks }: Pick<RpcChain, 'name' | 'finalityBlocks'>,
    ask: RpcUpstream['request'],
    nowMs: () => number,
  ) {
    this.name = name
    this.#finalityBlocks = finalityBlocks
    this.#request = ask
    this.#nowMs = nowMs
  }

  /** Last known head. */
  get knownHead(): EvmHeader | null {
    return this.#head
  }

  /** The newest final block, at most two seconds old; null if there is none yet. */
  async head(): Promise<EvmHeader | null> {
    if (this.#nowMs() - this.#headMs < HEAD_CACHE_MS) return this.#head
    const below = this.#finalityBlocks
    const [tagged] = await this.#headers([blockCall(below === undefined ? 'finalized' : 'latest')], [null])
    if (!tagged)
      throw new Error(
        `A node of chain ${this.name} did not return its newest final block. The operator may have to set finalityBlocks`,
      )
    let head: EvmHeader | null = tagged
    if (below) head = tagged.height < below ? null : await this.header(tagged.height - below)
    // Some nodes are behind others, but a final block stays final.
    if (head !== null && head.height >= (this.#head?.height ?? 0)) this.#head = head
    this.#headMs = this.#nowMs()
    return this.#head
  }

  async header(height: number): Promise<EvmHeader> {
    const [header] = await this.headers([height])
    return header
  }

  /** At most 50 heights. */
  async headers<const Heights extends readonly number[]>(
    heights: Heights,
  ): Promise<{ readonly [At in keyof Heights]: EvmHeader }> {
    const found = await this.#headers(heights.map(hex).map(blockCall), heights)
    if (found.includes(null)) throw new Error(`A node of chain ${this.name} lacks a final block`)
    return found as { readonly [At in keyof Heights]: EvmHeader }
  }

  async #headers(calls: readonly Call[], heights: readonly (number | null)[]) {
    const replies = await this.#request(calls)
    return replies.map((reply, at) => readHeader(this.#resultOf(reply), heights[at] ?? null))
  }

  /** Logs of blocks from `from` up to `max`, or up to an earlier block if a node limits the range. */
  async logs(from: number, max: number, query: LogQuery, anchor: number | null): Promise<LogPage> {
    for (;;) {
      const range = { from, to: Math.min(max, from + this.#rangeBlocks - 1) }
      const page = await this.#page(range, query, anchor)
      if (page !== null) return page
    }
  }

  /** Null: the node refused a range of this size. */
  async #page(range: Range, { addresses, topics }: LogQuery, anchor: number | null): Promise<LogPage | null> {
    const { from, to } = range
    const filter = {
      fromBlock: hex(from),
      toBlock: hex(to),
      ...(addresses.length > 0 && { address: addresses }),
      ...(topics.length > 0 && { topics: [topics] }),
    }
    // Logs and blocks are requested in one batch, so that a node that lacks the logs also shows that it lacks the block.
    const blocks = anchor === null ? [to] : [to, anchor]
    const logsCall = { method: 'eth_getLogs', params: JSON.stringify([filter]) }
    const [found, ...others] = await this.#request([logsCall, ...blocks.map(hex).map(blockCall)])
    if (!found) throw new Error(`Chain ${this.name} returned no response`)
    const isLate = !found.ok && found.error.kind === 'upstream_timeout'
    // An unavailable node refuses every call; an overloaded one refuses only the logs.
    const isRefused = found.ok ? found.value.result === undefined : isLate || found.error.hint !== undefined
    if (isRefused && from < to) {
      this.#rangeBlocks = Math.max(1, Math.floor((to - from + 1) / 2))
      this.#wasRefused = true
      if (!isLate) return null
    }
    const logs = readLogs(this.#resultOf(found), range, addresses)
    const [last, known = null] = others.map((reply, at) => readHeader(this.#resultOf(reply), blocks[at] ?? to))
    if (!last || (anchor !== null && known === null))
      throw new Error(`A node of chain ${this.name} does not have block ${to}: it is behind, or has pruned it`)
    this.#adaptRange(to - from + 1, logs.length)
    return { ...range, logs, last, anchor: known }
  }

  #adaptRange(blocks: number, logs: number): void {
    if (logs > MAX_LOGS) this.#rangeBlocks = Math.max(1, Math.floor(blocks / 2))
    else if (blocks === this.#rangeBlocks)
      this.#rangeBlocks = Math.min(MAX_BLOCKS, Math.ceil(this.#rangeBlocks * (this.#wasRefused ? 1.25 : 2)))
  }

  /** Throws with the node's message. */
  #resultOf(reply: ReplyResult): unknown {
    if (!reply.ok) throw new Error(`Chain ${this.name}: ${failureMessage(reply.error)}`)
    const { result, head, tail } = reply.value
    if (result !== undefined) return result
    const { error } = JSON.parse(`${head}1${tail}`) as { error: { message?: unknown } }
    throw new Error(
      `A node of chain ${this.name} returned an error: ${String(error.message).slice(0, MAX_MESSAGE_CHARS)}`,
    )
  }

  /** The first block at or after a time; if there is none, the height above the head. */
  async firstSince(timeMs: number): Promise<number> {
    const head = await this.head()
    if (head === null) return 0
    let low = 0
    let high = head.height + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((await this.header(middle)).time < timeMs) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Headers of these heights, fetched in batches. */
  async *eachHeader(heights: readonly number[]): AsyncGenerator<EvmHeader> {
    for (let at = 0; at < heights.length; at += HEADERS_PER_BATCH)
      yield* await this.headers(heights.slice(at, at + HEADERS_PER_BATCH))
  }
}

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
  /** Unix ms of the block; null: the node does not include it. */
  readonly time: number | null
}

export interface Range {
  readonly from: number
  readonly to: number
}

const Hex = (pattern: string) =>
  z
    .string()
    .regex(new RegExp(`^0x${pattern}$`, 'i'))
    .toLowerCase()
const Hash = Hex('[0-9a-f]{64}')
const Quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform(Number)
const Header = z.object({ number: Quantity, timestamp: Quantity, hash: Hash })
const Log = z.object({
  blockNumber: Quantity,
  blockHash: Hash,
  address: Hex('[0-9a-f]{40}'),
  topics: z.array(Hash).max(4),
  data: Hex('[0-9a-f]*').refine(({ length }) => length % 2 === 0),
  transactionHash: Hash,
  transactionIndex: Quantity,
  logIndex: Quantity,
  blockTimestamp: Quantity.nullish(),
  removed: z.literal(false).nullish(),
})
const Logs = z.array(Log)

/** Null: the node has no such block. `height`: the requested height; null: a tag was requested. */
export function readHeader(result: unknown, height: number | null): EvmHeader | null {
  if (result === null) return null
  const parsed = Header.safeParse(result)
  if (!parsed.success || (height !== null && parsed.data.number !== height))
    throw new Error('The node did not return the requested block')
  const { number, timestamp, hash } = parsed.data
  return { height: number, time: timestamp * 1_000, hash }
}

/** In chain order. */
export function readLogs(result: unknown, { from, to }: Range, addresses: readonly string[]): readonly EvmLog[] {
  const parsed = Logs.safeParse(result)
  if (!parsed.success) throw new Error('The node did not return a list of logs')
  const watched = new Set(addresses)
  const logs = parsed.data.map(logOf).sort((a, b) => a.height - b.height || a.log_index - b.log_index)
  for (const [at, { height, address, block_hash, log_index }] of logs.entries()) {
    if (height < from || height > to || (watched.size > 0 && !watched.has(address)))
      throw new Error('The node returned logs that were not requested')
    const before = logs[at - 1]
    if (before?.height === height && (before.log_index === log_index || before.block_hash !== block_hash))
      throw new Error(`The node returned conflicting logs for block ${height}`)
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
