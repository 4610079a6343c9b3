// A chain that a pipeline reads, with nodes that refuse, lag, lie and change their minds: every log once and in order, or a word.

import { beforeEach, describe, expect, it } from 'vitest'
import type { Failure } from '../../../src/core/failure.ts'
import { err, ok } from '../../../src/core/result.ts'
import { readAbi } from '../../../src/pipelines/evm/abi.ts'
import { AbiDecoder } from '../../../src/pipelines/evm/decode.ts'
import { EvmChain } from '../../../src/pipelines/evm/evm-chain.ts'
import { chainOf, queryOf } from '../../../src/pipelines/evm/evm-record.ts'
import type { Pipeline, StoredPipeline } from '../../../src/pipelines/pipeline.ts'
import { FatalPipelineError } from '../../../src/pipelines/pipeline.ts'
import { Assembler, type ReaderState } from '../../../src/pipelines/sink/batch-assembler.ts'
import { EvmSource } from '../../../src/pipelines/sink/evm-source.ts'
import { changesOf } from '../../../src/pipelines/sink/sink-record.client.ts'
import { evmFold, readAnchor } from '../../../src/pipelines/topics/evm-logs.ts'
import type { ReplyResult } from '../../../src/rpc/rpc-upstream.ts'

const CONTRACT = `0x${'c0'.repeat(20)}`
const hex = (n: number) => `0x${n.toString(16)}`
const hash = (n: number, fork = 0) => `0x${`${fork}`.padStart(2, '0')}${n.toString(16).padStart(62, '0')}`
const timeOf = (height: number) => 1_000 + 2 * height

interface Asked {
  readonly fromBlock: string
  readonly toBlock: string
}

/** A chain of so many blocks, with a log in each tenth one. */
class Node {
  head = 2_500
  /** Blocks of one answer. */
  most = Number.POSITIVE_INFINITY
  fork = 0
  saysTimes = true
  asked: string[] = []
  /** In the place of what it says of logs. */
  logs: ((asked: Asked) => unknown) | null = null
  failure: Failure | null = null

  readonly ask = async (calls: readonly { method: string; params: string }[]): Promise<ReplyResult[]> =>
    calls.map(({ method, params }) => {
      const [first] = JSON.parse(params)
      if (method === 'eth_getBlockByNumber') {
        this.asked.push(String(first).startsWith('0x') ? 'header' : first)
        return this.#said(this.#header(first))
      }
      const { fromBlock, toBlock } = first as Asked
      this.asked.push(`logs ${Number(fromBlock)}-${Number(toBlock)}`)
      if (this.failure) return err(this.failure)
      const blocks = Number(toBlock) - Number(fromBlock) + 1
      if (blocks > this.most) {
        const tail = ',"error":{"code":-32005,"message":"query returned more than 10000 results"}}'
        return ok({ head: '{"jsonrpc":"2.0","id":', tail, isCharged: false, result: undefined })
      }
      return this.#said(this.logs ? this.logs(first) : this.logsOf(Number(fromBlock), Number(toBlock)))
    })

  #said(result: unknown): ReplyResult {
    return ok({ head: '', tail: '', isCharged: true, result })
  }

  #header(block: string) {
    const height = block.startsWith('0x') ? Number(block) : this.head
    if (height > this.head || this.head < 0) return null
    return { number: hex(height), timestamp: hex(timeOf(height)), hash: hash(height, this.fork) }
  }

  logsOf(from: number, to: number) {
    const heights = Array.from({ length: to - from + 1 }, (_, at) => from + at)
    return heights
      .filter((height) => height % 10 === 0 && height <= this.head)
      .map((height) => ({
        blockNumber: hex(height),
        blockHash: hash(height, this.fork),
        address: CONTRACT,
        topics: [hash(1)],
        data: '0x',
        transactionHash: hash(height),
        transactionIndex: '0x0',
        logIndex: '0x2',
        removed: false,
        ...(this.saysTimes && { blockTimestamp: hex(timeOf(height)) }),
      }))
  }
}

let node: Node
let now: number
let chain: EvmChain
beforeEach(() => {
  node = new Node()
  now = 0
  chain = new EvmChain({ name: 'a', finalityBlocks: 0 }, node.ask, () => now)
})

const NO_QUERY = { addresses: [], topics: [] }
const begin = (place: ReaderState['place']): ReaderState => ({ place, epoch: null, timeMs: 0, fold: null })
const reader = (at: ReaderState) => {
  const fold = evmFold('a', new AbiDecoder([]), 'keep', at.fold)
  return new Assembler(new EvmSource(chain, NO_QUERY, readAnchor(at.fold)), fold, at, () => 0)
}
const MOST = { rows: 1e9, chars: 1e9, blocks: 1e9, untilMs: 1 }
const taken = async (at: ReaderState, most = MOST) => (await reader(at).take(null, null, most))!
const tens = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((height) => height % 10 === 0)
const logCalls = () => node.asked.filter((one) => one.startsWith('logs')).map((one) => one.slice('logs '.length))

describe('logs', () => {
  // PIPE-21
  it('are read from the start to the newest final block, once and in order', async () => {
    const { from, to, rows, after, isHead } = await taken(begin({ height: 7 }))
    expect([from, to, isHead]).toEqual([7, 2_500, true])
    expect(rows.map(({ _height }) => _height)).toEqual(tens(7, 2_500))
    expect(logCalls()).toEqual(['7-506', '507-1506', '1507-2500'])
    expect(rows[0]).toEqual({
      _kind: 'row',
      _key: `10:${hash(10)}:2`,
      _height: 10,
      _time: timeOf(10) * 1_000,
      chain: 'a',
      address: CONTRACT,
      event: null,
      signature: null,
      args: null,
      topic0: hash(1),
      topic1: null,
      topic2: null,
      topic3: null,
      data: '0x',
      block_hash: hash(10),
      tx_hash: hash(10),
      tx_index: 0,
      log_index: 2,
    })
    expect(after).toMatchObject({ place: { height: 2_501 }, timeMs: timeOf(2_500) * 1_000 })
    node.head = 2_520
    now = 3_000
    expect((await taken(after)).rows.map(({ _height }) => _height)).toEqual([2_510, 2_520])
  })

  it('get the times of their blocks if the node omits them', async () => {
    node.saysTimes = false
    const { rows } = await taken(begin({ height: 0 }))
    expect(rows.map(({ _time }) => _time)).toEqual(tens(0, 2_500).map((height) => timeOf(height) * 1_000))
  })

  it('wait for what the operator calls final, or the node', async () => {
    chain = new EvmChain({ name: 'a', finalityBlocks: 600 }, node.ask, () => now)
    expect((await taken(begin({ first: true }))).to).toBe(1_900)
    chain = new EvmChain({ name: 'a' }, node.ask, () => now)
    expect(await chain.head()).toMatchObject({ height: 2_500 })
    expect(node.asked.at(-1)).toBe('finalized')
    chain = new EvmChain({ name: 'a', finalityBlocks: 2_501 }, node.ask, () => now)
    expect(await chain.head()).toBeNull()
    // It would begin with the first block otherwise.
    node.head = -1
    chain = new EvmChain({ name: 'a' }, node.ask, () => now)
    await expect(chain.head()).rejects.toThrow('finalityBlocks')
  })

  it('start with the first block at or after a time', async () => {
    const { rows, from } = await taken(begin({ timeMs: timeOf(1_234) * 1_000 }))
    expect([from, rows[0]!._height]).toEqual([1_234, 1_240])
    expect(await chain.firstSince(timeOf(9_999) * 1_000)).toBe(2_501)
  })

  it('request the newest height at most every two seconds', async () => {
    const waiting = reader(begin({ height: 2_501 }))
    for (let turn = 0; turn < 9; turn++) expect(await waiting.take(null, null, MOST)).toBeNull()
    expect([node.asked, waiting.retryMs]).toEqual([['latest'], 0])
    // A node that is less far takes nothing back.
    node.head = 2_400
    now = 2_000
    expect([(await chain.head())?.height, node.asked]).toEqual([2_500, ['latest', 'latest']])
  })
})

describe('a node', () => {
  // PIPE-22
  it('that refuses a range is asked for fewer blocks, and later for more again', async () => {
    node.most = 70
    const { rows } = await taken(begin({ height: 0 }))
    expect(rows.map(({ _height }) => _height)).toEqual(tens(0, 2_500))
    expect(logCalls().slice(0, 7)).toEqual(['0-499', '0-249', '0-124', '0-61', '62-139', '62-100', '101-149'])
  })

  it('that refuses a single block is heard', async () => {
    node.most = 0
    await expect(taken(begin({ height: 0 }))).rejects.toThrow('query returned more than 10000 results')
    expect(logCalls().at(-1)).toBe('0-0')
  })

  it('that is late is asked for less the next time, one that is away for the same', async () => {
    node.failure = { kind: 'upstream_timeout', source: 'a' }
    await expect(taken(begin({ height: 0 }))).rejects.toThrow('"a" timed out')
    node.failure = { kind: 'upstream_failed', source: 'a' }
    await expect(taken(begin({ height: 0 }))).rejects.toThrow('"a" returned an error')
    expect(logCalls()).toEqual(['0-499', '0-249'])
    node.failure = { kind: 'upstream_failed', source: 'a', hint: 'too large' }
    await expect(taken(begin({ height: 0 }))).rejects.toThrow('too large')
    expect(logCalls().at(-1)).toBe('0-0')
  })

  it.each([
    ['no list', () => '0x', 'list of logs'],
    ['no logs', () => [{}], 'list of logs'],
    ['what was not asked for', () => node.logsOf(2_500, 2_500), 'not requested'],
    ['a log twice', () => [...node.logsOf(10, 10), ...node.logsOf(10, 10)], 'block 10'],
    ['a log that was taken back', () => node.logsOf(10, 10).map((log) => ({ ...log, removed: true })), 'list of logs'],
  ])('that responds with %s causes an error', async (_, logs, words) => {
    node.logs = logs
    await expect(taken(begin({ height: 0 }))).rejects.toThrow(words)
  })

  it('that is behind a different node loses no rows', async () => {
    await chain.head()
    node.head = 300
    await expect(taken(begin({ height: 0 }))).rejects.toThrow('does not have block 499')
  })
})

it('a chain whose newest final block is below what was read says so, and is asked again', async () => {
  const { after } = await taken(begin({ height: 7 }))
  chain = new EvmChain({ name: 'a', finalityBlocks: 0 }, node.ask, () => now)
  node.head = 2_499
  const own = reader(after)
  await expect(own.take(null, null, MOST)).rejects.toThrow('The newest final block is 2499, but block 2500')
  now += 2_000
  node.head = 2_510
  expect((await own.take(null, null, MOST))!.to).toBe(2_510)
})

it('a batch in flight is read completely or not at all', async () => {
  // PIPE-3
  node.head = 95
  expect(await reader(begin({ height: 0 })).take(null, 99, MOST)).toBeNull()
  node.head = 99
  now = 2_000
  expect((await reader(begin({ height: 0 })).take(null, 99, MOST))!.to).toBe(99)
})

describe('a chain that changes what was final', () => {
  // PIPE-23
  it('is not read further, even after a restart', async () => {
    const { after } = await taken(begin({ height: 2_000 }), { ...MOST, blocks: 333 })
    // Of the last block nobody knows the hash: it is compared by the one with a log before it.
    expect([after.place, after.fold]).toEqual([{ height: 2_333 }, JSON.stringify({ height: 2_330, hash: hash(2_330) })])
    expect((await taken(after)).from).toBe(2_333)
    node.fork = 1
    await expect(taken(after)).rejects.toThrow(`Block 2330 of a was ${hash(2_330)} and is now ${hash(2_330, 1)}`)
  })
})

describe('logs that the ABI does not have', () => {
  const read = readAbi({ abi: [{ type: 'event', name: 'E', inputs: [] }] })
  const decoder = new AbiDecoder(read.ok ? read.value : [])
  const [known] = decoder.selectors
  const log = (topic: string, log_index: number) => ({
    height: 5,
    block_hash: hash(5),
    address: CONTRACT,
    topics: [topic],
    data: '0x',
    tx_hash: hash(1),
    tx_index: 0,
    log_index,
    time: null,
  })
  const block = { height: 5, time: 9, hash: hash(5), logs: [log(known!, 0), log(hash(7), 1)] }
  const rows = (unmatched: Pipeline['abi_unmatched']) => evmFold('a', decoder, unmatched, null).rows(block)

  it('are kept undecoded, omitted, or stop the pipeline', () => {
    const own = { event: 'E', signature: 'E()', args: {} }
    const other = { event: null, args: null, topic0: hash(7) }
    expect(rows('keep')).toMatchObject([own, other])
    expect(rows('drop')).toMatchObject([own])
    expect(() => rows('fail')).toThrow(`abi_file: log 1 of block 5 (address ${CONTRACT}, topic ${hash(7)})`)
    expect(() => rows('fail')).toThrow(FatalPipelineError)
  })

  it('are not requested if they are omitted', () => {
    const fields = { abi_contract_addresses: [`0x${'Cc'.repeat(20)}`], abi_unmatched: 'drop' as const }
    const addresses = [`0x${'cc'.repeat(20)}`]
    expect(queryOf(fields, decoder.selectors)).toEqual({ addresses, topics: [known] })
    expect(queryOf({ ...fields, abi_unmatched: 'keep' }, decoder.selectors)).toEqual({ addresses, topics: [] })
    expect(queryOf(fields, Array(101).fill(known))).toEqual({ addresses, topics: [] })
  })
})

describe('the chain', () => {
  const filter = (chain: string) => ({ filter: { type: 'evmLogs', chain } })

  it('is the one in the filter, or the only one available', () => {
    expect(chainOf(filter('b'), ['a', 'b'])).toEqual({ ok: true, value: 'b' })
    expect(chainOf({ filter: null }, ['a'])).toEqual({ ok: true, value: 'a' })
    expect(chainOf({ filter: null }, ['a', 'b'])).toMatchObject({ ok: false, error: { path: 'filter' } })
    expect(chainOf({ filter: null }, [])).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/: none$/) },
    })
    expect(chainOf(filter('c'), ['a'])).toMatchObject({ ok: false, error: { path: 'filter.chain' } })
  })

  it('begins anew where it is another one, and an ABI does not', () => {
    const before = { topic: 'evm_logs', ...filter('a'), abi_file: {} } as unknown as StoredPipeline
    expect(changesOf(before, { ...before, ...filter('b') })).toEqual(['chain'])
    expect(changesOf(before, { ...before, abi_file: { abi: [] } })).toEqual(['rows'])
  })
})
