// Invariants of the RPC service: node bytes and caller ids are returned unchanged, in the caller's order, with one
// charge per response.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/core/failure.ts'
import { call, replyWith, rpcWorld } from './rpc-world.ts'

const ODD = '"result" : {"b":1152921504606846977,"a":[1e3,0.10,"\\u0061"],"b":1}'
const ERROR = '"error":{"code":-32602,"message":"no"}'
const REVERT = '"error":{"code":3,"message":"execution reverted","data":"0x"}'

/** A service whose nodes return this for every call. */
const saying = (members: string, refusals?: readonly Failure[]) =>
  rpcWorld(
    replyWith(() => members),
    {},
    refusals,
  )

describe('a single call', () => {
  it('is returned byte for byte except for its id, and costs one credit', async () => {
    const world = saying(ODD)
    const params = '[ {"n":1152921504606846977} , 1e3]'
    const { status, body, headers } = await world.ask(call(' 1e3 ', 'eth_getLogs', params))
    expect([status, body]).toEqual([200, `{ "jsonrpc":"2.0", ${ODD},"id" : 1e3 }\n`])
    expect(world.posted.map((each) => each.body)).toEqual([
      `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":${params}}`,
    ])
    expect(headers).toMatchObject({ 'x-credits-cost': '1', 'x-credits-remaining': '7', 'x-request-id': 'req_1' })
  })

  it('is sent without parameters if it has none', async () => {
    const world = saying('"result":"0x1"')
    await world.ask(call('1', 'eth_syncing'))
    expect(world.posted[0]!.body).toBe('{"jsonrpc":"2.0","id":1,"method":"eth_syncing"}')
  })

  it.each([
    ['an error of the node is free', ERROR, '0'],
    ['a call that reverted was run', REVERT, '1'],
    ['a result of null is an answer', '"result":null', '1'],
  ])('%s', async (_, members, cost) => {
    const world = saying(members)
    const { status, body, headers } = await world.ask(call('"x"', 'eth_call', '[{}]'))
    expect([status, body]).toEqual([200, `{ "jsonrpc":"2.0", ${members},"id" : "x" }\n`])
    expect(headers['x-credits-cost']).toBe(cost)
    expect(world.open.size).toBe(0)
  })

  it.each([
    ['cut JSON', '{"jsonrpc":"2.0","id":1,', 400, -32700, 'null'],
    ['nothing', '', 400, -32700, 'null'],
    ['depth', '['.repeat(70) + ']'.repeat(70), 400, -32700, 'null'],
    ['an empty batch', '[]', 400, -32600, 'null'],
    ['a batch of 10,000', `[${Array(10_000).fill('1')}]`, 400, -32600, 'null'],
    ['a number', '1', 400, -32600, 'null'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"eth_call"}', 400, -32600, 'null'],
    ['an id that is a list', '{"jsonrpc":"2.0","id":[1],"method":"eth_call"}', 400, -32600, 'null'],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"eth_call"}', 400, -32600, 'null'],
    ['no version', '{"id":1.50,"method":"eth_call"}', 400, -32600, '1.50'],
    ['a method that is a number', '{"jsonrpc":"2.0","id":"a","method":1}', 400, -32600, '"a"'],
    ['parameters that are text', '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":"a"}', 400, -32600, '1'],
    ['a method with spaces', call('1', 'eth_call '), 200, -32601, '1'],
    ['a method that ends its text', call('1', 'eth_call\\",\\"x'), 200, -32601, '1'],
    ['a method without end', call('1', `eth_${'x'.repeat(61)}`), 200, -32601, '1'],
    ['a method of the node’s keeper', call('1', 'admin_peers'), 200, -32601, '1'],
    ['the node’s own accounts', call('1', 'eth_sendTransaction'), 200, -32601, '1'],
    ['a stream', call('1', 'eth_subscribe', '["newHeads"]'), 200, -32601, '1'],
  ])('%s is refused, free, and no node is asked', async (_, text, status, code, id) => {
    const world = saying(ODD)
    const answer = await world.ask(text)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatch(new RegExp(`^\\{"jsonrpc":"2.0","id":${id},"error":\\{"code":${code},"message":"`))
    expect(answer.headers).toMatchObject({ 'x-credits-cost': '0', 'x-credits-remaining': '8' })
    expect([world.posted, world.charged, world.open.size]).toEqual([[], [], 0])
  })
})

describe('a batch', () => {
  const ids = fc.constantFrom('1', '1', '1e3', '1152921504606846977', '-0.5', 'null', '"a"', '"\\u0061\\ud800"', '""')
  const kinds = fc.constantFrom('good', 'error', 'reverted', 'missing', 'bad', 'refused')
  const member = { good: ODD, error: ERROR, reverted: REVERT } as const
  type Call = readonly [id: string | null, kind: 'good' | 'error' | 'reverted' | 'missing' | 'bad' | 'refused']

  const textOf = ([id, kind]: Call) => {
    const ofId = id === null ? '' : `"id":${id},`
    if (kind === 'bad') return `{"jsonrpc":"1.0",${ofId}"method":"eth_x"}`
    return `{"jsonrpc":"2.0",${ofId}"method":"${kind === 'refused' ? 'admin_x' : `eth_${kind}`}"}`
  }
  const node = replyWith((method) => member[method.slice(4) as keyof typeof member])
  const forgetful = (posted: { readonly body: string }) => {
    const sent = JSON.parse(posted.body) as { method: string }[] | { method: string }
    const list = (Array.isArray(sent) ? sent : [sent]).filter(({ method }) => method !== 'eth_missing')
    if (list.length === 0) return { status: 200, retryAfter: null, text: '[]' }
    return node({ body: JSON.stringify(Array.isArray(sent) ? list : list[0]) })
  }

  it('has an ordered response with bytes and id for each call that is not a notification, and one charge per response', async () => {
    const calls = fc.array(fc.tuple(fc.option(ids), kinds), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(calls, async (list) => {
        const world = rpcWorld(forgetful)
        const { status, body, headers } = await world.ask(`[ ${list.map(textOf).join(' ,\n')} ]`)
        const told = list.filter(([id, kind]) => id !== null || kind === 'bad')
        const answered = list.filter(([, kind]) => kind === 'good' || kind === 'reverted').length
        expect(world.charged.length).toBe(answered)
        expect(world.open.size).toBe(0)
        const results = list.flatMap(([, kind]) =>
          kind === 'error' ? ['eth_error rpc_error 0'] : kind in member ? [`eth_${kind}  1000000`] : [],
        )
        expect(world.logged.map(({ type, code, micro }) => `${type} ${code} ${micro}`)).toEqual(results)
        expect(headers['x-credits-cost']).toBe(String(answered))
        if (told.length === 0) {
          expect(body).toBe(null)
          return
        }
        const values = JSON.parse(body!) as { error?: { code: number } }[]
        expect(values.length).toBe(told.length)
        const all = told.map(([id, kind], at) => {
          if (kind in member) return `{ "jsonrpc":"2.0", ${member[kind as keyof typeof member]},"id" : ${id} }`
          expect(values[at]!.error!.code).toBe({ missing: -32603, bad: -32600, refused: -32601 }[kind as 'missing'])
          return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(values[at]!.error)}}`
        })
        expect(body).toBe(`[${all.join(',')}]`)
        expect(status).toBe(list.every(([, kind]) => kind === 'missing') ? 502 : 200)
      }),
    )
  })

  it('with only notifications gets an empty response, and is executed and charged', async () => {
    const world = saying(ODD)
    const quiet = '{"jsonrpc":"2.0","method":"eth_syncing"}'
    expect(await world.ask(`[${quiet},${quiet}]`)).toMatchObject({ status: 204, body: null })
    expect(await world.ask(quiet)).toMatchObject({ status: 204, body: null, headers: { 'x-credits-cost': '1' } })
    expect([world.posted.length, world.charged.length]).toEqual([2, 3])
  })

  it.each(['eth call', 'admin_peers'])('returns nothing for a rejected notification: %s', async (method) => {
    const world = saying(ODD)
    const quiet = `{"jsonrpc":"2.0","method":"${method}"}`
    expect(await world.ask(quiet)).toMatchObject({ status: 204, body: null, headers: { 'x-credits-cost': '0' } })
    const { body } = await world.ask(`[${quiet},${call('1', 'eth_syncing')}]`)
    expect(body).toBe(`[{ "jsonrpc":"2.0", ${ODD},"id" : 1 }]`)
  })

  it('is served as far as credits and rates allow, and rejected as a whole only if nothing is left', async () => {
    const short = { kind: 'credits_exhausted', neededMicro: 1e6, remainingMicro: 5 } as const
    const often = { kind: 'rate_limited', retryAfterMs: 900 } as const
    const three = `[${['1', '2', '3'].map((id) => call(id, 'eth_syncing')).join()}]`
    // The first is rejected, the others proceed.
    const part = saying('"result":1', [short, often])
    const { status, body, headers } = await part.ask(three)
    const codes = (JSON.parse(body!) as { error?: { code: number } }[]).map(({ error }) => error?.code)
    expect([status, codes, part.charged.length]).toEqual([200, [-32003, -32005, undefined], 1])
    expect([headers['retry-after'], headers['content-type'], headers['x-credits-cost']]).toEqual([
      ...['1', 'application/json', '1'],
    ])
    const none = saying(ODD, [often, often, often])
    expect(await none.ask(three)).toMatchObject({ status: 429, headers: { 'retry-after': '1', 'x-credits-cost': '0' } })
    expect(none.posted).toEqual([])
    const poor = saying(ODD, [short])
    expect(await poor.ask(call('7', 'eth_syncing'))).toMatchObject({
      status: 402,
      body: expect.stringContaining('{"jsonrpc":"2.0","id":7,"error":{"code":-32003,'),
      headers: { 'x-credits-remaining': '0.000005' },
    })
  })

  it("has at most a second's worth of free responses that took work", async () => {
    const world = saying(ERROR)
    const many = `[${Array.from({ length: 30 }, (_, id) => call(`${id}`, 'eth_call', `[${id}]`)).join()}]`
    const codes = (JSON.parse((await world.ask(many)).body!) as { error: { code: number } }[]).map(
      ({ error }) => error.code,
    )
    expect(codes.filter((code) => code === -32602).length).toBe(20)
    const status = async () => (await world.ask(call('1', 'eth_call', '["x"]'))).status
    expect(await status()).toBe(429)
    expect((await world.ask('{')).status).toBe(429)
    // The other ten became debt: half a second later no allowance is left.
    world.pass(500)
    expect(await status()).toBe(429)
    world.pass(200)
    expect(await status()).toBe(200)
  })

  it('serves and charges the valid calls of a key with hundreds of invalid ones', async () => {
    const world = rpcWorld(replyWith((method) => (method === 'eth_call' ? ERROR : '"result":1')))
    for (let i = 0; i < 50; i++) {
      await world.ask('{')
      await world.ask(call('1', 'admin_peers'))
      await world.ask(call('1', 'eth_call', `[${i}]`))
    }
    const tries = () => world.ask(call('1', 'eth_syncing'))
    for (let i = 0; i < 150; i++) expect((await tries()).status).toBe(200)
    expect((await world.ask(call('1', 'admin_peers'))).status).toBe(429)
    expect(world.charged).toHaveLength(150)
  })
})
