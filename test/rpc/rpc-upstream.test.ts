// Failing nodes: failover, retries, and errors for callers.

import { describe, expect, it } from 'vitest'
import type { SourceReply } from '../../src/upstream/outcome.ts'
import { call, type Posted, replyWith, rpcWorld } from './rpc-world.ts'

const good = replyWith(() => '"result":"0x1"')
const http = (status: number, text = '', retryAfter: string | null = null): SourceReply => ({
  status,
  text,
  retryAfter,
})
/** A world whose first node returns this, while the other is healthy. */
const firstSays = (sent: SourceReply) => rpcWorld((posted) => (posted.url === 'http://a/' ? sent : good(posted)))
const asked = (posted: readonly Posted[]) => posted.map(({ url }) => url.at(-2)).join('')

const said = (id: string, result: string) => `{"jsonrpc":"2.0","id":${id},"result":"${result}"}`
const FIVE = call('5', 'eth_syncing')
const TWO = `[${call('5', 'eth_x')},${call('6', 'eth_y')}]`

describe('a failing node', () => {
  it.each<[string, SourceReply]>([
    ['unreachable', { failed: 'unreachable' }],
    ['late', { failed: 'timeout' }],
    ['cut', { failed: 'cut' }],
    ['broken', http(500, 'oops')],
    ['garbage', http(200, '<html>')],
    ['a reply to another call', http(200, '{"jsonrpc":"2.0","id":9,"result":1}')],
    ['more replies than calls', http(200, `[${said('1', 'a')},${said('1', 'b')}]`)],
    ['neither result nor error', http(200, '{"jsonrpc":"2.0","id":1}')],
    ['shut', http(401, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"bad key K"}}')],
    ['ill, and says so to nobody', http(500, '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}}')],
    ['busy', http(429, '', '1')],
  ])('%s: the next one is asked', async (_, sent) => {
    const world = firstSays(sent)
    expect(JSON.parse((await world.ask(FIVE)).body!)).toMatchObject({ id: 5, result: '0x1' })
    expect(asked(world.posted)).toBe('ab')
  })

  it.each<[string, SourceReply, number, string]>([
    ['unreachable', { failed: 'unreachable' }, 502, 'abab'],
    ['late', { failed: 'timeout' }, 504, 'ab'],
    ['broken', http(500, 'oops'), 502, 'abab'],
    ['too large', { failed: 'oversized' }, 502, 'a'],
    ['shut', http(403, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"http://a/K"}}'), 502, 'abab'],
    ['busy', http(429, '', '30'), 503, 'ab'],
  ])('%s everywhere: %s', async (_, sent, status, nodes) => {
    const world = rpcWorld(() => sent)
    const answer = await world.ask(FIVE)
    expect([answer.status, asked(world.posted)]).toEqual([status, nodes])
    expect(answer.body).toMatch(/^\{"jsonrpc":"2.0","id":5,"error":\{"code":-32603,"message":"/)
    expect(answer.body).not.toContain('http://')
    expect([world.charged, world.open.size]).toEqual([[], 0])
  })

  it.each([
    ['leaves one out', '[{"jsonrpc":"2.0","id":2,"result":"a"}]', ['0x1', 'a']],
    ['says nothing', '[]', ['0x1', '0x1']],
    ['answers one twice', `[${said('1', 'a')},${said('1', 'b')}]`, ['0x1', '0x1']],
    ['answers others', `[${said('0', 'a')},${said('1.5', 'b')}]`, ['0x1', '0x1']],
  ])('%s of a batch: the next one is asked', async (_, text, results) => {
    const world = firstSays(http(200, text))
    const { status, body } = await world.ask(TWO)
    expect([status, asked(world.posted), world.charged.length]).toEqual([200, 'ab', 2])
    expect(JSON.parse(body!)).toMatchObject([5, 6].map((id, at) => ({ id, result: results[at] })))
  })

  it('passes only its missing calls to the next node', async () => {
    const world = firstSays(http(200, `[${said('2', 'a')}]`))
    const { body } = await world.ask(`[${call('5', 'eth_x')},${call('6', 'eth_y')},${call('7', 'eth_z')}]`)
    const [, second] = world.posted.map((posted) => JSON.parse(posted.body) as { method: string }[])
    expect(second!.map(({ method }) => method)).toEqual(['eth_x', 'eth_z'])
    expect(JSON.parse(body!)).toMatchObject([
      { id: 5, result: '0x1' },
      { id: 6, result: 'a' },
      { id: 7, result: '0x1' },
    ])
  })

  it('that is the only node: its batch replies are returned, and missing replies are free', async () => {
    const world = rpcWorld(() => http(200, `[${said('2', 'a')}]`), { urls: ['http://a/'] })
    const { status, body } = await world.ask(TWO)
    expect([status, asked(world.posted), world.charged.length]).toEqual([200, 'aa', 1])
    expect(JSON.parse(body!)).toMatchObject([
      { id: 5, error: { code: -32603 } },
      { id: 6, result: 'a' },
    ])
  })

  it('is paused once a known-good request fails too', async () => {
    const world = firstSays(http(500))
    for (let i = 0; i < 8; i++) await world.ask(call('1', 'eth_call', `[${i}]`))
    await world.settled()
    const before = world.posted.length
    await world.ask(call('1', 'eth_call', '["x"]'))
    expect(asked(world.posted.slice(before))).toBe('b')
    expect(world.posted.some(({ body }) => body.includes('eth_chainId'))).toBe(true)
  })

  it("is not paused because of callers' requests", async () => {
    const world = rpcWorld((posted) => (posted.body.includes('eth_bad') ? http(500) : good(posted)), {
      urls: ['http://a/'],
    })
    for (let i = 0; i < 8; i++) await world.ask(call('1', 'eth_bad', `[${i}]`))
    await world.settled()
    expect((await world.ask(call('1', 'eth_call', '[]'))).status).toBe(200)
  })

  it('may send errors with another status', async () => {
    const text = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"bad"},"id":null}'
    const world = rpcWorld(() => http(400, text))
    expect((await world.ask(call('"q"', 'eth_call'))).body).toBe(text.replace('null', '"q"'))
    const named = text.replace('null', '1')
    expect((await rpcWorld(() => http(500, named)).ask(call('"q"', 'eth_call'))).body).toBe(text.replace('null', '"q"'))
  })

  it('stays healthy if responses are too large', async () => {
    const world = rpcWorld(({ body }) => (body.includes('getLogs') ? { failed: 'oversized' } : good({ body })))
    for (let i = 0; i < 8; i++) {
      const { body } = await world.ask(call('1', 'eth_getLogs', `[{"fromBlock":"0x${i}"}]`))
      expect(JSON.parse(body!)).toMatchObject({ id: 1, error: { code: -32603 } })
    }
    const before = world.posted.length
    await world.ask(call('1', 'eth_call', '["x"]'))
    expect(asked(world.posted.slice(before))).toBe('a')
  })
})

describe('a transaction', () => {
  const send = call('1', 'eth_sendRawTransaction', '["0x00"]')
  it.each<SourceReply>([{ failed: 'timeout' }, { failed: 'unreachable' }, http(502)])(
    'is sent once: %j',
    async (sent) => {
      const world = rpcWorld(() => sent)
      expect((await world.ask(send)).body).toContain('may have received it')
      expect(asked(world.posted)).toBe('a')
    },
  )

  it('is sent once, even if the node is paused meanwhile for load', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const world = rpcWorld(async (posted) => {
      if (posted.url === 'http://b/') return good(posted)
      if (!posted.body.includes('Raw')) return http(429, '', '9')
      await promise
      return { failed: 'timeout' }
    })
    const sending = world.ask(send)
    await world.ask(call('2', 'eth_syncing'))
    resolve()
    expect((await sending).status).toBe(504)
    expect(asked(world.posted.filter(({ body }) => body.includes('Raw')))).toBe('a')
  })

  it.each(['eth_sendBundle', 'eth_resend', 'eth_SendRawTransaction', 'evm_mine', 'personal_sendTransaction'])(
    'of another kind, or what is not known to read, is sent once: %s',
    async (method) => {
      const world = rpcWorld(() => http(502), { allow: ['*'], deny: [] })
      await world.ask(call('1', method))
      expect(asked(world.posted)).toBe('a')
    },
  )

  it('goes individually to the next node if the first is busy', async () => {
    const world = firstSays(http(429, '', '9'))
    await world.ask(`[${call('1', 'eth_syncing')},${send},${call('3', 'eth_syncing')}]`)
    expect(world.posted.filter(({ body }) => body.includes('Raw')).map(({ body }) => body[0])).toEqual(['{', '{'])
  })
})

it('sends a node at most its batch size', async () => {
  const world = rpcWorld(good, { batchMax: 2 })
  const { body } = await world.ask(`[${['1', '2', '3', '4', '5'].map((id) => call(id, 'eth_call', `[${id}]`)).join()}]`)
  expect((JSON.parse(body!) as { id: number }[]).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  expect(world.posted.map((each) => JSON.parse(each.body).length ?? 1)).toEqual([2, 2, 1])
})

it('limits concurrent requests and memory per caller', async () => {
  let underWay = 0
  let most = 0
  const reply = replyWith(() => `"result":"${'x'.repeat(2 ** 20)}"`)
  const world = rpcWorld(
    async (posted) => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      const sent = reply(posted)
      return 'text' in sent && sent.text.length > posted.maxBytes ? { failed: 'oversized' } : sent
    },
    { batchMax: 1 },
  )
  const ids = Array.from({ length: 20 }, (_, id) => `${id}`)
  const { body } = await world.ask(`[${ids.map((id) => call(id, 'eth_call', `[${id}]`)).join()}]`)
  const errors = (JSON.parse(body!) as { error?: object }[]).filter(({ error }) => error !== undefined)
  expect([most, world.posted[0]!.maxBytes]).toEqual([4, 2 ** 21])
  expect(body!.length).toBeLessThan(2 ** 23)
  expect(errors.length).toBeGreaterThan(10)
  expect((await rpcWorld(good).ask(call('1', 'eth_call'))).status).toBe(200)
})

it("reports each node's health in the status, but not its address", async () => {
  const replies: SourceReply[] = [http(502), http(200, '{"jsonrpc":"2.0","id":1,"result":"0x1f"}'), http(429, '', '9')]
  const world = rpcWorld(() => replies.shift() ?? { failed: 'timeout' }, { shareMs: 0 })
  const unasked = { state: 'ok', retryInMs: 0, lastSuccessMs: null, lastFailure: null }
  expect(world.view()).toEqual([{ name: 'evm', height: null, nodes: [unasked, unasked] }])
  await world.ask(call('1', 'eth_blockNumber'))
  world.pass(5)
  await world.ask(call('1', 'eth_blockNumber'))
  const late = { atMs: 1_000_005, reason: 'timeout' }
  expect(world.view()).toEqual([
    {
      name: 'evm',
      height: 31,
      nodes: [
        { ...unasked, state: 'resting', retryInMs: 9_000, lastFailure: { atMs: 1_000_005, reason: 'busy' } },
        { ...unasked, lastSuccessMs: 1_000_000, lastFailure: late },
      ],
    },
  ])
})
