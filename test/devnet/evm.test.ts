// The simulated EVM chain, as viem and a pipeline read it.

import { type Address, createPublicClient, custom, erc20Abi, type Hash, parseAbiItem } from 'viem'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { Ledger } from '../../src/devnet/evm/ledger.ts'
import { handleEvm } from '../../src/devnet/evm/rpc.ts'
import { readHeader, readLogs } from '../../src/pipelines/evm/evm-chain.ts'

const BEGAN_S = 1_800_000_000
const HEAD = 200
const TOKEN: Address = `0x${'70'.repeat(20)}`
const NOBODY: Address = `0x${'0'.repeat(40)}`
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

const engine = createEngine(5)
// Three blocks of the exchange, at other times than those of the chain.
for (const afterMs of [400, 1_500, HEAD * 1_000 + 700]) {
  engine.step(BigInt(BEGAN_S * 1_000 + afterMs) * 1_000_000n)
}

const node = { origin: engine.exchange, ledger: new Ledger() }
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
const raw = async (method: string, ...params: unknown[]): Promise<any> =>
  JSON.parse(JSON.stringify(await handleEvm(node, { jsonrpc: '2.0', id: 1, method, params })))
const client = createPublicClient({
  transport: custom({
    async request({ method, params = [] }) {
      const { result, error } = await raw(method, ...params)
      if (error) throw Object.assign(new Error(error.message), error)
      return result
    },
  }),
})
const read = (functionName: 'balanceOf' | 'totalSupply', blockNumber: bigint, args: readonly Address[] = []) =>
  client.readContract({ address: TOKEN, abi: erc20Abi, functionName, args, blockNumber } as never) as Promise<bigint>

describe('the chain of the simulated exchange', () => {
  it('has one block per second since the start, and all blocks are available at any time', async () => {
    expect(await client.getChainId()).toBe(999)
    expect([(await raw('net_version')).result, (await raw('web3_clientVersion')).result]).toEqual([
      '999',
      'weir-devnet',
    ])
    expect(await client.getBlockNumber()).toBe(BigInt(HEAD))
    const first = await client.getBlock({ blockTag: 'earliest' })
    expect([first.number, first.timestamp, first.transactions]).toEqual([0n, BigInt(BEGAN_S), []])
    let { hash } = first
    for (let number = 1n; number <= BigInt(HEAD); number++) {
      const block = await client.getBlock({ blockNumber: number })
      expect([block.parentHash, block.timestamp]).toEqual([hash, BigInt(BEGAN_S) + number])
      hash = block.hash
    }
    for (const tag of ['latest', 'safe', 'finalized'] as const) {
      expect((await client.getBlock({ blockTag: tag })).hash).toBe(hash)
    }
    expect((await client.getBlock({ blockHash: hash })).number).toBe(BigInt(HEAD))
    expect((await raw('eth_getBlockByNumber', '0xffff', false)).result).toBeNull()
  })

  it('has a transaction in every third block, found by its hash, with a receipt and its log', async () => {
    const { transactions, hash } = await client.getBlock({ blockNumber: 150n, includeTransactions: true })
    const [sent] = transactions
    expect(await client.getTransaction({ hash: sent!.hash })).toEqual(sent)
    const receipt = await client.getTransactionReceipt({ hash: sent!.hash })
    const [log] = receipt.logs
    expect([receipt.status, receipt.blockNumber, receipt.from]).toEqual(['success', 150n, sent!.from])
    expect(await client.getLogs({ blockHash: hash })).toEqual([log])
    expect((await client.getBlock({ blockNumber: 151n })).transactions).toEqual([])
    const wrong = sent!.hash.replace(/.$/, (last) => (last === '0' ? '1' : '0')) as Hash
    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockByHash']) {
      expect((await raw(method, wrong, false)).result).toBeNull()
    }
    expect((await raw('eth_getTransactionByHash', `0x00000000ff${'0'.repeat(54)}`)).result).toBeNull()
  })

  it('has a token whose logs, starting with the first, add up to its balances at every height', async () => {
    const logs = await client.getLogs({ event: TRANSFER, address: TOKEN, fromBlock: 'earliest', toBlock: 'latest' })
    expect(logs.length).toBe(Math.floor(HEAD / 3))
    const held = new Map<Address, bigint>()
    const nonces = new Map<Address, number>()
    for (const { args, blockNumber, transactionHash } of logs) {
      const { from, to, value } = args as { from: Address; to: Address; value: bigint }
      held.set(from, (held.get(from) ?? 0n) - value)
      held.set(to, (held.get(to) ?? 0n) + value)
      const sent = await client.getTransaction({ hash: transactionHash })
      expect(sent.nonce).toBe(nonces.get(sent.from) ?? 0)
      nonces.set(sent.from, sent.nonce + 1)
      expect(await read('totalSupply', blockNumber)).toBe(-held.get(NOBODY)!)
      for (const wallet of [from, to].filter((each) => each !== NOBODY)) {
        expect(await read('balanceOf', blockNumber, [wallet])).toBe(held.get(wallet))
        expect(held.get(wallet)).toBeGreaterThanOrEqual(0n)
      }
      const address = sent.from
      const before = blockNumber - 1n
      expect(await client.getTransactionCount({ address, blockNumber })).toBe(sent.nonce + 1)
      expect(await client.getTransactionCount({ address, blockNumber: before })).toBe(sent.nonce)
      const fee =
        (await client.getBalance({ address, blockNumber: before })) -
        (await client.getBalance({ address, blockNumber }))
      const receipt = await client.getTransactionReceipt({ hash: transactionHash })
      expect(fee).toBe(receipt.gasUsed * receipt.effectiveGasPrice)
    }
    const contract = { address: TOKEN, abi: erc20Abi } as const
    expect(await client.readContract({ ...contract, functionName: 'symbol' })).toBe('DEVD')
    expect(await client.readContract({ ...contract, functionName: 'decimals' })).toBe(6)
    expect([await client.getCode({ address: TOKEN }), await client.getCode({ address: NOBODY })]).toEqual([
      '0xfe',
      undefined,
    ])
  })

  it('finds logs by address and topic, in a limited block range', async () => {
    const all = await client.getLogs({ fromBlock: 60n, toBlock: 199n })
    const found = async (filter: object) =>
      (await raw('eth_getLogs', { fromBlock: '0x3c', toBlock: '0xc7', ...filter })).result
    const [topic, from] = all[5]!.topics
    expect(await found({ topics: [] })).toHaveLength(all.length)
    expect(await found({ topics: [[topic, from], null, all[5]!.topics[2]] })).toHaveLength(
      all.filter(({ topics }) => topics[2] === all[5]!.topics[2]).length,
    )
    expect(await found({ topics: [from] })).toEqual([])
    expect(await found({ topics: [topic, from], address: [NOBODY, TOKEN] })).toHaveLength(
      all.filter(({ topics }) => topics[1] === from).length,
    )
    expect(await found({ address: NOBODY })).toEqual([])
    const latest = await raw('eth_getLogs', { fromBlock: 'latest' })
    expect((await raw('eth_getLogs', {})).result).toEqual(latest.result)
    engine.step(BigInt(BEGAN_S + 20_000) * 1_000_000_000n)
    expect((await raw('eth_getLogs', { fromBlock: '0x0' })).error.code).toBe(-32602)
    expect((await raw('eth_getLogs', { fromBlock: '0x0', toBlock: '0x270f' })).result).toHaveLength(3_333)
  })

  it("fits the pipeline's schemas for blocks and logs", async () => {
    const asked = { fromBlock: '0x0', toBlock: '0xc8', address: [TOKEN] }
    const logs = readLogs((await raw('eth_getLogs', asked)).result, { from: 0, to: 200 }, [TOKEN])
    expect(logs.map(({ height, time }) => [height, time])).toEqual(
      logs.map((_, at) => [3 * (at + 1), (BEGAN_S + 3 * (at + 1)) * 1_000]),
    )
    const header = readHeader((await raw('eth_getBlockByNumber', '0x3', false)).result, 3)
    expect(header).toEqual({ height: 3, time: (BEGAN_S + 3) * 1_000, hash: logs[0]!.block_hash })
  })

  it('returns fees, and rejects unknown methods', async () => {
    expect(await client.getGasPrice()).toBe(100_000_000n)
    expect(await client.estimateMaxPriorityFeePerGas()).toBe(0n)
    const fees = await client.getFeeHistory({ blockCount: 4, blockNumber: 2n, rewardPercentiles: [] })
    expect([fees.oldestBlock, fees.baseFeePerGas.length, fees.gasUsedRatio.length]).toEqual([0n, 4, 3])
    expect((await raw('eth_mine')).error.code).toBe(-32601)
    expect((await raw('constructor')).error.code).toBe(-32601)
    expect((await raw('eth_getBalance', NOBODY, '0xffffff')).error.code).toBe(-32000)
    expect((await raw('eth_getBalance', '0x1', 'latest')).error.code).toBe(-32602)
    expect((await raw('eth_call', { to: TOKEN, data: '0x12345678' })).error.code).toBe(3)
    expect((await raw('eth_call', { to: NOBODY }, 'latest')).result).toBe('0x')
  })
})
