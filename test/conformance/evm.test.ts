// JSON-RPC over real sockets: unmodified viem and ethers with batches, against a third-party development node;
// rejections; balances of the data API; and a pipeline of contract logs.

import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACCOUNT, CHAIN_ID, type Ethers, installEvm, openEthers, openViem, RICH_KEY, startAnvil } from '../evm/evm.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'

const USER = `0x${'ab'.repeat(20)}` as const
const EXCHANGE: Readonly<Record<string, unknown>> = {
  perpDexs: [null],
  spotMeta: { tokens: [], universe: [{ tokens: [150, 0], name: '@107', index: 107, isCanonical: false }] },
  userAbstraction: 'default',
  clearinghouseState: { marginSummary: { accountValue: '10.5', totalMarginUsed: '1.0' }, assetPositions: [] },
  spotClearinghouseState: {
    balances: [
      { coin: 'USDC', token: 0, total: '2.25', hold: '0.0', entryNtl: '0.0' },
      { coin: 'HYPE', token: 150, total: '3.0', hold: '0.0', entryNtl: '0.0' },
    ],
  },
}

/** What the data service says of an address that begins so. */
const ODD_SERVICE: Readonly<Record<string, readonly [status: number, body: string, headers?: Record<string, string>]>> =
  {
    d0: [200, '{"data":null,"error":true,"error_message":"no","error_code":"500"}'],
    d1: [200, '<html>'],
    d2: [200, 'null'],
    d3: [302, '', { location: 'http://127.0.0.1:1/' }],
    d4: [404, '{}'],
    d5: [401, '{"error_message":"service-key"}'],
    d6: [200, '{"data":null,"error":false,"error_message":null,"error_code":null}'],
    d7: [429, '{}', { 'retry-after': '7' }],
  }

const SERVED = '{ "error":false, "data":{"items":[{"odd":1152921504606846977,"rate":1.10}]},"error_message":null }'
const SMALL = '{"id":1,"jsonrpc":"2.0","result":"0x"}'

const missing = installEvm()
if (missing !== null) console.log(`ethers and anvil are skipped: ${missing}`)

let world: World
let service: HttpServer
let anvil: Awaited<ReturnType<typeof startAnvil>> | undefined
let key: string
/** What the data service was asked, and by whom. */
const served: string[] = []

beforeAll(async () => {
  service = await startServer(async (request, response) => {
    const body = await text(request)
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') {
      served.push(`${request.headers.authorization} ${request.url}`)
      const odd = ODD_SERVICE[/0x(..)/.exec(request.url!)![1]!]
      if (odd !== undefined) return response.writeHead(odd[0], odd[2]).end(odd[1])
      return response.end(SERVED)
    }
    if (request.url === '/evm') {
      const large = `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(9 * 2 ** 20)}"}`
      if (body.includes('eth_getLogs')) return response.setHeader('content-encoding', 'gzip').end(gzipSync(large))
      if (body.includes('eth_getCode')) return response.setHeader('content-encoding', 'gzip').end(gzipSync(SMALL))
      const asked = JSON.parse(body) as { id: number } | { id: number }[]
      const one = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: false })
      return response.end(JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)))
    }
    return response.end(JSON.stringify(EXCHANGE[(JSON.parse(body) as { type: string }).type] ?? null))
  })
  anvil = missing === null ? await startAnvil() : undefined
  const other = new URL(service.url)
  const chains = [
    { name: 'anvil', urls: [anvil?.url ?? 'http://127.0.0.1:1'], finalityBlocks: 2, prices: { eth_getLogs: '2.5' } },
    { name: 'stub', urls: [`${other.origin}/evm`], dataUrl: `http://service-key:@${other.host}/base/` },
  ]
  const shared = { RPC_CHAINS: JSON.stringify(chains), PIPELINE_PRIVATE: 'on' }
  world = await startWorld({ node: service.url, vars: { ...shared, TRUST_PROXY: 'on' }, objectVars: shared })
  key = await world.newKey('100000', { plan: 'enterprise' })
})
afterAll(async () => {
  await world?.stop()
  await anvil?.program.end()
  service?.close()
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const JSON_TYPE = { 'content-type': 'application/json' }
const call = (id: string, method: string, params = '[]') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
const rpc = (body: string, headers: Record<string, string> = bearer(key), path = '/v1/stub') =>
  world.call('POST', path, null, body, headers)

// A contract that gives back the largest number, and one that reverts; each behind what deploys it.
const deploying = (code: string): Hex =>
  `0x60${(code.length / 2).toString(16).padStart(2, '0')}600c60003960${(code.length / 2).toString(16).padStart(2, '0')}6000f3${code}`
const LARGEST = deploying(`7f${'ff'.repeat(32)}60005260206000f3`)
const REVERTS = deploying('60006000fd')

describe.skipIf(missing !== null)('viem', () => {
  it('reads, sends, waits, calls and gets errors, in batches', async () => {
    const { client, wallet } = openViem(`${world.url}/v1/anvil`, bearer(key))
    const [id, number, block, before] = await Promise.all([
      client.getChainId(),
      client.getBlockNumber(),
      client.getBlock({ blockNumber: 0n }),
      client.getBalance({ address: ACCOUNT.address }),
    ])
    expect([id, number, block.number, before]).toEqual([CHAIN_ID, 0n, 0n, 10_000n * 10n ** 18n])
    const hash = await wallet.sendTransaction({ to: USER, value: 2n ** 60n + 1n })
    const receipt = await client.waitForTransactionReceipt({ hash })
    expect([receipt.status, receipt.blockNumber]).toEqual(['success', 1n])
    expect(await client.getBalance({ address: USER })).toBe(2n ** 60n + 1n)
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(1n)
    expect((await client.getBlock()).transactions).toEqual([hash])
    const deployed = async (data: Hex) =>
      (await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ data }) })).contractAddress
    expect((await client.call({ to: await deployed(LARGEST) })).data).toBe(`0x${'ff'.repeat(32)}`)
    await expect(client.call({ to: await deployed(REVERTS) })).rejects.toThrow(/execution reverted/i)
    expect(await client.getLogs()).toEqual([])
    await expect(client.request({ method: 'eth_newFilter', params: [{}] })).rejects.toThrow(/does not exist/)
  })
})

describe.skipIf(missing !== null)('ethers', () => {
  const provider = ({ FetchRequest, JsonRpcProvider }: Ethers, token: string) => {
    const request = new FetchRequest(`${world.url}/v1/anvil`)
    request.setHeader('authorization', `Bearer ${token}`)
    return new JsonRpcProvider(request, undefined, { pollingInterval: 50, cacheTimeout: -1 })
  }

  it('reads, sends and waits, in batches', async () => {
    const ethers = await openEthers()
    const node = provider(ethers, key)
    const wallet = new ethers.Wallet(RICH_KEY, node)
    const [network, height, genesis] = await Promise.all([node.getNetwork(), node.getBlockNumber(), node.getBlock(0)])
    expect([network.chainId, genesis!.hash.length]).toEqual([BigInt(CHAIN_ID), 66])
    const to = `0x${'cd'.repeat(20)}`
    const sent = await wallet.sendTransaction({ to, value: 10n ** 18n + 1n })
    const receipt = await sent.wait()
    expect([receipt.status, receipt.blockNumber, await node.getBalance(to)]).toEqual([1, height + 1, 10n ** 18n + 1n])
    expect((await node.getTransactionReceipt(sent.hash))!.blockNumber).toBe(height + 1)
    node.destroy()
  })
})

describe.skipIf(missing !== null)('the node’s own bytes', () => {
  it('are unchanged in batches and single calls, including ids', async () => {
    const ids = ['1e3', '1152921504606846977', '-0.50', '"\\u0061"', 'null']
    const block = call('7', 'eth_getBlockByNumber', '["0x0",true]')
    const direct = await (await fetch(anvil!.url, { method: 'POST', headers: JSON_TYPE, body: block })).text()
    const [head, tail] = direct.split('"id":7') as [string, string]
    const calls = ids.map((id) => call(id, 'eth_getBlockByNumber', '["0x0",true]'))
    const answer = await rpc(`[${calls.join(' , ')}]`, bearer(key), '/v1/anvil')
    expect(await answer.text()).toBe(`[${ids.map((id) => `${head}"id":${id}${tail}`).join(',')}]`)
    expect([answer.status, answer.headers.get('x-credits-cost')]).toEqual([200, '5'])
  })

  it('cost the configured price, and errors are free', async () => {
    const costs = async (body: string) => {
      const answer = await rpc(body, bearer(key), '/v1/anvil')
      return [answer.status, answer.headers.get('x-credits-cost'), (await answer.text()).match(/-32\d+/)?.[0]]
    }
    expect(await costs(call('1', 'eth_getLogs', '[{}]'))).toEqual([200, '2.5', undefined])
    expect(await costs(call('1', 'eth_getBalance', '[1]'))).toEqual([200, '0', '-32602'])
    expect(await costs(call('1', 'eth_nope'))).toEqual([200, '0', '-32601'])
    expect(await costs(`[${call('1', 'eth_chainId')},${call('2', 'eth_nope')},{"id":3}]`)).toEqual([200, '1', '-32601'])
  })
})

describe('the endpoint', () => {
  const error = async (answer: Response) => {
    const body = (await answer.json()) as { jsonrpc: string; id: unknown; error: { code: number; message: string } }
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(answer.headers.get('x-credits-cost')).toBe('0')
    expect(body).toEqual({ jsonrpc: '2.0', id: body.id, error: { code: body.error.code, message: expect.any(String) } })
    return [answer.status, body.error.code, body.id]
  }

  it('accepts only UTF-8 bodies', async () => {
    const send = (body: Buffer | ReadableStream) =>
      fetch(`${world.url}/v1/stub`, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...bearer(key) },
        body,
        duplex: 'half',
      })
    const latin = Buffer.from(call('1', 'eth_call', '["é"]'), 'latin1')
    expect(await error(await send(latin))).toEqual([400, -32700, null])
    expect(await error(await send(new Blob([latin]).stream()))).toEqual([400, -32700, null])
    // Three bytes, as what marks them would be.
    const [head, tail] = call('1', 'eth_call', '["|"]').split('|') as [string, string]
    const cut = Buffer.concat([Buffer.from(head), Buffer.from([0xf0, 0x9f, 0x98]), Buffer.from(tail)])
    expect(await error(await send(cut))).toEqual([400, -32700, null])
    expect(await (await send(Buffer.from(call('"\ufffd"', 'eth_syncing')))).json()).toMatchObject({ id: '\ufffd' })
  })

  it('reads compressed node responses up to the limit', async () => {
    const large = await rpc(call('1', 'eth_getLogs', '[{}]'))
    expect([large.status, large.headers.get('x-credits-cost')]).toEqual([502, '0'])
    expect(await large.text()).toContain('larger than 8 MiB')
    expect(await (await rpc(call('7', 'eth_getCode', '["0x1","0x1"]'))).text()).toBe(SMALL.replace('1,', '7,'))
  })

  it('accepts a trailing slash', async () => {
    const answer = await rpc(call('7', 'eth_syncing'), bearer(key), '/v1/stub/?x=/')
    expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 7, result: false }])
  })
})

describe('balances', () => {
  const basic = (user: string) => ({ authorization: `Basic ${btoa(`${user}:`)}` })
  const get = async (path: string, headers: Record<string, string> = basic(key)) => {
    const answer = await fetch(`${world.url}/v1/${path}`, { headers })
    return { status: answer.status, json: (await answer.json()) as Record<string, never>, headers: answer.headers }
  }
  const own = `hyperliquid/address/${USER}/balances_v2/`

  it('of the exchange are in dollars, paged, and cost one credit', async () => {
    const { status, json, headers } = await get(own)
    expect([status, headers.get('x-credits-cost')]).toEqual([200, '1'])
    const none = { token: null, dex: null }
    const usdc = {
      ...none,
      type: 'spot',
      coin: 'USDC',
      token: 0,
      balance: '2.25',
      hold: '0.0',
      quote_rate: '1.0',
      quote: '2.25',
    }
    // Without a feed there are no books, and so no price.
    const hype = {
      ...none,
      type: 'spot',
      coin: 'HYPE',
      token: 150,
      balance: '3.0',
      hold: '0.0',
      quote_rate: null,
      quote: null,
    }
    const perp = {
      ...none,
      type: 'perp',
      coin: 'USDC',
      dex: '',
      balance: '10.5',
      hold: '1.0',
      quote_rate: '1.0',
      quote: '10.5',
    }
    expect(json).toMatchObject({
      error: false,
      error_message: null,
      error_code: null,
      data: { address: USER, chain_name: 'hyperliquid', total_quote: '12.75', items: [usdc, hype, perp] },
    })
    const second = await get(`${own.replace(USER, USER.replaceAll('b', 'B'))}?page-size=2&page-number=1`)
    const pagination = { has_more: false, page_number: 1, page_size: 2, total_count: 3 }
    expect(second.json).toMatchObject({ data: { address: USER, items: [perp], pagination } })
  })

  it('of another chain come from its data service with the operator’s key', async () => {
    const answer = await fetch(`${world.url}/v1/stub/address/${USER}/balances_v2/`, { headers: basic(key) })
    expect([await answer.text(), answer.headers.get('content-type')]).toEqual([SERVED, 'application/json'])
    const path = `/base/v1/stub/address/${USER}/balances_v2/?page-number=0&page-size=100`
    expect(served).toEqual([`Basic ${btoa('service-key:')} ${path}`])
  })

  it.each([
    ['d0', 503],
    ['d1', 503],
    ['d2', 503],
    ['d3', 503],
    ['d4', 404],
    ['d5', 503],
    ['d6', 503],
    ['d7', 503],
  ])('a data service’s odd answer %s is a %i of ours, free', async (odd, status) => {
    const { json, ...answer } = await get(`stub/address/0x${odd}${'0'.repeat(38)}/balances_v2/`)
    expect([answer.status, json.error_code, answer.headers.get('x-credits-cost')]).toEqual([status, `${status}`, '0'])
    expect(JSON.stringify(json)).not.toContain('service-key')
    if (status === 503) expect(answer.headers.get('retry-after')).toBe(odd === 'd7' ? '7' : '1')
  })

  it('are limited by key and address', async () => {
    const one = await world.newKey('100')
    const two = await world.newKey('100')
    const from = { 'cf-connecting-ip': '203.0.113.7' }
    const asked = await Promise.all([one, two, one, two, one, two].map((each) => get(own, { ...basic(each), ...from })))
    const refused = asked.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(1)
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
  })
})

describe.skipIf(missing !== null)('a pipeline of evm_logs', () => {
  const SIGNATURE = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  // Emits `Transfer(caller, to, value)` of its call's two words, value first, and a log that no ABI has.
  const EMITS = deploying(`60003560005260203533${'7f'}${SIGNATURE}60206000a360006000a000`)
  const ABI = [
    { type: 'constructor', inputs: [] },
    {
      type: 'event',
      name: 'Transfer',
      anonymous: false,
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'to', type: 'address', indexed: true },
        { name: 'value', type: 'uint256' },
      ],
    },
  ]
  const direct = async (method: string, params: unknown[] = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(anvil!.url, { method: 'POST', headers: JSON_TYPE, body })
    return ((await answer.json()) as { result: unknown }).result
  }
  interface Batch {
    readonly id: string
    readonly rows: readonly Record<string, unknown>[]
  }
  const batches: Batch[] = []
  let receiver: HttpServer
  let losesAnswers = true
  beforeAll(async () => {
    receiver = await startServer(async (request, response) => {
      batches.push(JSON.parse(await text(request)) as Batch)
      // It has the rows, and the pipeline does not hear of it.
      if (losesAnswers) request.socket.destroy()
      else response.end('ok')
      losesAnswers = false
    })
  })
  afterAll(() => receiver?.close())

  it('delivers decoded logs of its contracts once, and stops at a reorganization', async () => {
    const owner = await world.newKey('10', { kind: 'service', plan: 'enterprise' })
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await world.call(method, `/platform/pipeline-api/${path}`, owner, body)
      return { status: answer.status, body: (await answer.json()) as { data: Record<string, unknown> } }
    }
    const { client, wallet } = openViem(anvil!.url)
    const send = async (options: { readonly to?: Hex; readonly data: Hex }) => {
      const receipt = await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction(options) })
      return { contractAddress: receipt.contractAddress! }
    }
    const own = await send({ data: EMITS })
    const other = await send({ data: EMITS })
    const word = (value: bigint) => value.toString(16).padStart(64, '0')
    const emit = (to: Hex, value: bigint) => send({ to, data: `0x${word(value)}${word(BigInt(USER))}` })

    const order = {
      name: 'transfers',
      topic: 'evm_logs',
      filter: { type: 'evmLogs', chain: 'anvil' },
      destination_config: { type: 'webhook', url: receiver.url, secret: `whsec_${btoa('0'.repeat(32))}` },
      abi_file: { abi: ABI },
      abi_contract_addresses: [own.contractAddress],
      execution_start_from: 'earliest',
      transforms: { out: "SELECT *, args ->> '$.value' AS value FROM evm_logs" },
    }
    expect(await ask('POST', '', { ...order, filter: null })).toMatchObject({
      status: 400,
      body: { error_message: expect.stringMatching(/^filter: /) },
    })
    expect(await ask('POST', '', { ...order, filter: { type: 'evmLogs', chain: 'nope' } })).toMatchObject({
      status: 400,
      body: { error_message: expect.stringMatching(/^filter.chain: /) },
    })
    const hostile = await ask('POST', '', { ...order, abi_file: { abi: [{ type: 'event', name: 'E', inputs: [{}] }] } })
    expect(hostile).toMatchObject({
      status: 400,
      body: { error_message: expect.stringContaining('abi_file.abi.0.inputs.0.type') },
    })
    await emit(own.contractAddress, 2n ** 256n - 1n)
    await emit(other.contractAddress, 5n)
    await direct('anvil_mine', ['0x2'])
    const created = await ask('POST', '', order)
    expect(created.status).toBe(201)
    const id = created.body.data.id as string
    const rows = () => [...new Map(batches.flatMap(({ rows }) => rows).map((row) => [row._key, row])).values()]
    await expect.poll(() => batches.length, { timeout: 30_000 }).toBe(2)
    // Again under its name, with the same rows.
    expect(batches[1]).toEqual(batches[0])
    const height = Number(await client.getBlockNumber({ cacheTime: 0 }))
    const block = (await direct('eth_getBlockByNumber', [`0x${(height - 3).toString(16)}`, false])) as Record<
      string,
      string
    >
    expect(rows()).toMatchObject([
      {
        _kind: 'row',
        _height: height - 3,
        _time: Number(block.timestamp) * 1_000,
        block_hash: block.hash,
        chain: 'anvil',
        address: own.contractAddress.toLowerCase(),
        event: 'Transfer',
        topic0: `0x${SIGNATURE}`,
        value: String(2n ** 256n - 1n),
      },
      { event: null, args: null, data: '0x', topic0: null, log_index: 1 },
    ])
    const args = { from: ACCOUNT.address.toLowerCase(), to: USER, value: String(2n ** 256n - 1n) }
    expect(JSON.parse(rows()[0]!.args as string)).toEqual(args)

    // Live from here on.
    for (const value of [1n, 2n, 3n]) await emit(own.contractAddress, value)
    await expect.poll(() => rows().length, { timeout: 30_000 }).toBe(4)
    await direct('anvil_mine', ['0x2'])
    await expect.poll(() => rows().length, { timeout: 30_000 }).toBe(8)
    expect(rows().flatMap(({ value }) => value ?? [])).toEqual([args.value, '1', '2', '3'])
    const status = async () => (await ask('GET', `${id}/status/`)).body.data
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({ phase: 'live', height: height + 3, lag_blocks: 0 })

    // Deeper than what counts as final here.
    await direct('anvil_reorg', [4, []])
    await direct('anvil_mine', ['0x3'])
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({
      phase: 'failed',
      last_error: { message: expect.stringMatching(/^Block 13 of anvil was 0x\w{64} and is now 0x\w{64}/) },
    })
    expect(rows()).toHaveLength(8)
  })
})
