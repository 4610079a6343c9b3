// What is cached, for how long, and who shares it: never a block older than one already reported.

import { describe, expect, it } from 'vitest'
import { cacheLifetimeOf } from '../../src/rpc/cache-lifetime.ts'
import { call, replyWith, rpcWorld } from './rpc-world.ts'

const HASH = `"0x${'ab'.repeat(32)}"`

/** A node at a height set by the test. */
function chain(more: object = {}) {
  const at = { height: 10 }
  const hex = (height: number) => `0x${height.toString(16)}`
  const node = replyWith((method, params) => {
    const [first] = (params ?? []) as unknown[]
    if (method === 'eth_blockNumber') return `"result":"${hex(at.height)}"`
    if (method === 'eth_getBlockByNumber') {
      const named = { latest: hex(at.height), pending: hex(at.height + 1) }[String(first)]
      if (named !== undefined) return `"result":{"number":"${named}"}`
      const number = String(first)
      return `"result":${Number(number) > at.height ? 'null' : `{"number":"${number}"}`}`
    }
    if (method === 'eth_getTransactionReceipt') {
      const number = { old: '0x5', young: '0xa' }[String(first)]
      return `"result":${number === undefined ? 'null' : `{"blockNumber":"${number}"}`}`
    }
    return `"result":"at ${at.height}"`
  })
  const world = rpcWorld(node, more)
  const ask = async (method: string, params = '[]') => {
    const before = world.posted.length
    const { body } = await world.ask(call('1', method, params))
    return { result: (JSON.parse(body!) as { result: unknown }).result, asked: world.posted.length - before }
  }
  /** Number of node calls for each of two calls. */
  const twice = async (method: string, params?: string) => [
    (await ask(method, params)).asked,
    (await ask(method, params)).asked,
  ]
  return { at, world, ask, twice }
}

/** Number of node calls for two identical calls with this response. */
async function sentOf(members: string, text: string) {
  const world = rpcWorld(replyWith(() => members))
  await world.ask(text)
  await world.ask(text)
  return world.posted.length
}

describe('immutable responses', () => {
  it.each([
    ['eth_chainId', '[]'],
    ['net_version', '[]'],
    ['eth_getBlockByHash', `[${HASH},false]`],
    ['eth_getBlockReceipts', `[${HASH}]`],
  ])('%s is asked once, and charged each time', async (method, params) => {
    const { ask, world, twice } = chain()
    expect(await twice(method, params)).toEqual([1, 0])
    world.pass(3_600_000)
    expect((await ask(method, params)).asked).toBe(1)
    expect(world.charged.length).toBe(3)
  })

  it('caches blocks and receipts once they are final, if the operator sets the depth', async () => {
    const { ask, twice } = chain({ finalityBlocks: 2 })
    const block = (hex: string) => twice('eth_getBlockByNumber', `["${hex}",true]`)
    expect(await block('0x5')).toEqual([1, 1])
    await ask('eth_blockNumber')
    expect([await block('0x8'), await block('0x9'), await block('0xa')]).toEqual([[1, 0], ...Array(2).fill([1, 1])])
    const receipt = (hash: string) => twice('eth_getTransactionReceipt', `["${hash}"]`)
    expect([await receipt('old'), await receipt('young'), await receipt('none')]).toEqual([
      [1, 0],
      [1, 1],
      [1, 1],
    ])
    const unknown = chain()
    await unknown.ask('eth_blockNumber')
    expect(await unknown.twice('eth_getBlockByNumber', '["0x1",true]')).toEqual([1, 1])
  })

  it('distinguishes numbers that equal the same double', async () => {
    const { ask } = chain()
    await ask('eth_getBalance', '[1152921504606846976,"latest"]')
    expect((await ask('eth_getBalance', '[1152921504606846977,"latest"]')).asked).toBe(1)
  })

  it('does not cache null and errors', async () => {
    expect(await chain().twice('eth_getBlockByNumber', '["0xff",false]')).toEqual([1, 1])
    expect(await sentOf('"result":null', call('1', 'eth_getBlockByHash', `[${HASH},false]`))).toBe(2)
    expect(await sentOf('"error":{"code":-32000,"message":"x"}', call('1', 'eth_chainId'))).toBe(2)
  })
})

describe('a large response', () => {
  it('is returned and not cached', async () => {
    expect(await sentOf(`"result":"${'x'.repeat(2 ** 18)}"`, call('1', 'eth_chainId'))).toBe(2)
  })

  it('is fetched by each caller', async () => {
    const { world } = chain()
    const long = call('1', 'eth_call', `[{"data":"0x${'0'.repeat(5_000)}"},"latest"]`)
    await Promise.all([world.ask(long), world.ask(long)])
    expect(world.posted.length).toBe(2)
  })
})

describe('the newest block', () => {
  it('is fetched once for concurrent callers, each with its own id and charge', async () => {
    const { world } = chain()
    const bodies = await Promise.all(['1', '"b"', '1e3'].map((id) => world.ask(call(id, 'eth_blockNumber'))))
    expect(bodies.map(({ body }) => body)).toEqual(
      ['1', '"b"', '1e3'].map((id) => `{ "jsonrpc":"2.0", "result":"0xa","id" : ${id} }\n`),
    )
    const two = await world.ask(`[${call('1', 'eth_gasPrice')},${call('2', 'eth_gasPrice')}]`)
    expect(JSON.parse(two.body!)).toMatchObject([{ id: 1 }, { id: 2 }])
    expect([world.posted.length, world.charged.length]).toEqual([2, 5])
  })

  it('is shared for a limited time', async () => {
    const { at, world, ask } = chain()
    await ask('eth_blockNumber')
    at.height = 11
    expect(await ask('eth_blockNumber')).toEqual({ result: '0xa', asked: 0 })
    world.pass(250)
    expect(await ask('eth_blockNumber')).toEqual({ result: '0xb', asked: 1 })
    expect(await chain({ shareMs: 0 }).twice('eth_blockNumber')).toEqual([1, 1])
  })

  it('is shared from the time of the request, however slow the node is', async () => {
    const first = Promise.withResolvers<void>()
    const node = replyWith(() => '"result":"0xa"')
    const world = rpcWorld(async (posted) => {
      if (world.posted.length === 1) await first.promise
      return node(posted)
    })
    const ask = () => world.ask(call('1', 'eth_gasPrice'))
    const early = ask()
    world.pass(249)
    const joined = ask()
    world.pass(1)
    const late = ask()
    first.resolve()
    await Promise.all([early, joined, late])
    expect(world.posted.length).toBe(2)
    world.pass(249)
    await ask()
    expect(world.posted.length).toBe(2)
    world.pass(1)
    await ask()
    expect(world.posted.length).toBe(3)
    const alone = rpcWorld(node, { shareMs: 0 })
    await Promise.all([1, 2].map(() => alone.ask(call('1', 'eth_gasPrice'))))
    expect(alone.posted.length).toBe(2)
  })

  it('is never older than one already reported, nor than a sent transaction', async () => {
    const { at, ask } = chain()
    const balance = () => ask('eth_getBalance', '["0x1","latest"]')
    await balance()
    expect((await balance()).asked).toBe(0)
    at.height = 11
    await ask('eth_getBlockByNumber', '["0xb",false]')
    expect(await balance()).toEqual({ result: 'at 11', asked: 1 })
    await ask('eth_sendRawTransaction', '["0x"]')
    expect((await balance()).asked).toBe(1)
  })

  it('is not a response that was requested before a transaction was sent', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const node = replyWith(() => '"result":"0xa"')
    const world = rpcWorld(async (posted) => {
      if (posted.body.includes('eth_blockNumber')) await promise
      return node(posted)
    })
    const early = world.ask(call('1', 'eth_blockNumber'))
    await world.ask(call('2', 'eth_sendRawTransaction', '["0x"]'))
    resolve()
    await early
    await world.ask(call('3', 'eth_blockNumber'))
    expect(world.posted.filter(({ body }) => body.includes('eth_blockNumber')).length).toBe(2)
  })

  it('is not older than one reported meanwhile, for receipts too', async () => {
    const mined = Promise.withResolvers<void>()
    const node = replyWith((method) => (method === 'eth_blockNumber' ? '"result":"0xa"' : '"result":null'))
    const receipt = call('1', 'eth_getTransactionReceipt', `[${HASH}]`)
    const world = rpcWorld(async (posted) => {
      if (posted.body.includes('Receipt')) await mined.promise
      return node(posted)
    })
    const early = world.ask(receipt)
    await world.ask(call('2', 'eth_blockNumber'))
    const later = [world.ask(receipt), world.ask(receipt)]
    world.pass(250)
    later.push(world.ask(receipt))
    mined.resolve()
    await Promise.all([early, ...later])
    expect(world.posted.filter(({ body }) => body.includes('Receipt')).length).toBe(3)
  })

  it('is not the pending block, in any notation', async () => {
    const { ask } = chain()
    const balance = () => ask('eth_getBalance', '["0x1","latest"]')
    await balance()
    for (const pending of ['pending', 'pend\\u0069ng']) await ask('eth_getBlockByNumber', `["${pending}",false]`)
    expect((await balance()).asked).toBe(0)
  })

  it('is accepted again after a chain restart or a faulty node', async () => {
    const { at, world, ask } = chain()
    const height = () => ask('eth_blockNumber')
    at.height = 1_000
    await height()
    at.height = 10
    world.pass(59_999)
    expect([await height(), (await height()).asked]).toEqual([{ result: '0xa', asked: 1 }, 1])
    world.pass(1)
    expect([await height(), (await height()).asked]).toEqual([{ result: '0xa', asked: 1 }, 0])
  })

  it('is neither pending nor outdated', () => {
    const lasting = (method: string, params: string) => cacheLifetimeOf({ method, values: JSON.parse(params) })
    expect(lasting('eth_call', '[{},"pending"]')).toBe('never')
    expect(lasting('eth_call', '[{},"0x1"]')).toBe('never')
    expect(lasting('eth_call', '[{},"latest"]')).toBe('newest')
    expect(lasting('eth_call', '[{}]')).toBe('newest')
    expect(lasting('eth_call', '{"by":"name"}')).toBe('never')
    expect(lasting('eth_sendRawTransaction', '["0x"]')).toBe('never')
  })
})
