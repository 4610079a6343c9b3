// Every upstream info type over real HTTP: bytes, price and failures.

import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spotMarkets } from '../../src/console/live/markets.ts'
import { CATALOGUE, queryOf } from '../../src/info/queries/catalogue.ts'
import { usesHistory, usesUpstream } from '../../src/info/query.ts'
import { ANSWERS, REQUESTS, WIRES } from '../fixtures/wire.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { Socket } from '../kit/socket.ts'

const dexOf = ([wire]: readonly [string, ...unknown[]]) => wire.slice(0, 3)
const EXAMPLES = new Map(CATALOGUE.map(({ type, example }) => [type, JSON.stringify(example.response)]))
// A DEX for each folder of answers: an answer of the cache would prove nothing.
const [, DEX] = queryOf('perpDexs')!.example.response as [null, object]
EXAMPLES.set('perpDexs', JSON.stringify([null, ...['xyz', ...WIRES.map(dexOf)].map((name) => ({ ...DEX, name }))]))
// Sparse token indices, a pair whose token is not listed, and contexts in another order than the pairs.
const [META, [CONTEXT]] = queryOf('spotMetaAndAssetCtxs')!.example.response as [
  { tokens: [object]; universe: [object] },
  [object],
]
const SPARSE = {
  universe: [
    { ...META.universe[0], tokens: [301, 0], name: '@300', index: 300 },
    { ...META.universe[0], tokens: [479, 0], name: '@367', index: 367 },
  ],
  tokens: [0, 3, 479].map((index) => ({ ...META.tokens[0], name: `T${index}`, index })),
}
const CONTEXTS = ['#40', '@367', '@300'].map((coin) => ({ ...CONTEXT, coin }))
EXAMPLES.set('spotMeta', JSON.stringify(SPARSE))
EXAMPLES.set('spotMetaAndAssetCtxs', JSON.stringify([SPARSE, CONTEXTS]))
const FROM_UPSTREAM = CATALOGUE.filter(usesUpstream)
/** Types whose answers come through as they are; the specification adds a key to openOrders. */
const SERVED = new Set(FROM_UPSTREAM.map(({ type }) => type).filter((type) => type !== 'openOrders'))

type Behaviour = (response: ServerResponse, type: string) => void
const wellBehaved: Behaviour = (response, type) => response.end(EXAMPLES.get(type))

let world: World
let key: string
let upstream: HttpServer
let behave: Behaviour = wellBehaved
beforeAll(async () => {
  upstream = await startServer(async (request, response) => {
    const { type } = JSON.parse(await text(request)) as { type: string }
    response.setHeader('content-type', 'application/json')
    behave(response, type)
  })
  world = await startWorld({ node: upstream.url })
  key = await world.newKey('100000', { plan: 'professional' })
})
afterAll(async () => {
  await world?.stop()
  upstream?.close()
})
beforeEach(() => {
  behave = wellBehaved
})

it.each(FROM_UPSTREAM.map((query) => [query.type, query] as const))('%s', async (type, { example }) => {
  const reply = await world.info(key, { type, ...example.request })
  expect([reply.status, await reply.text()]).toEqual([200, EXAMPLES.get(type)])
  expect(reply.headers.get('content-type')).toBe('application/json')
  expect(reply.headers.get('x-credits-cost')).toBe('1')
})

it.each(['clearinghouseState', 'portfolioState'])('%s of every DEX costs 10', async (type) => {
  const { example } = CATALOGUE.find((query) => query.type === type)!
  const reply = await world.info(key, { type, ...example.request, dex: 'ALL_DEXES' })
  expect([reply.status, reply.headers.get('x-credits-cost')]).toEqual([200, '10'])
})

it.each(
  CATALOGUE.filter((query) => usesHistory(query) && !usesUpstream(query)).map((query) => [query.type, query] as const),
)('%s cannot be had before the first block, and is not charged', async (type, { example }) => {
  const reply = await world.info(key, { type, ...example.request })
  expect([reply.status, reply.headers.get('x-credits-cost')]).toEqual([503, '0'])
  expect(await reply.json()).toMatchObject({ code: 'unavailable' })
})

describe.each(WIRES)('%s responds', (name, wire, isAbsent) => {
  it.skipIf(isAbsent).each(ANSWERS.filter(([type, path]) => SERVED.has(type) && path.startsWith(dirname(REQUESTS))))(
    'of %s come through byte for byte: %s',
    async (type, path) => {
      const requests = JSON.parse(readFileSync(join(wire, REQUESTS), 'utf8')) as Record<string, { request: object }>
      const body = readFileSync(join(wire, path))
      behave = (response) => response.end(body)
      // Another DEX name: an answer of the cache would prove nothing.
      const fresh = type === 'meta' ? { dex: dexOf([name]) } : {}
      const reply = await world.info(key, { ...requests[basename(path)]!.request, ...fresh })
      expect(reply.status).toBe(200)
      expect(Buffer.from(await reply.arrayBuffer()).equals(body)).toBe(true)
    },
  )
})

// Field test T6
it('a sparse spot listing that lacks a token breaks neither balances nor contexts', async () => {
  const held = [
    { coin: 'T479', token: 479, total: '2.0', hold: '0.0' },
    { coin: 'T301', token: 301, total: '3.0', hold: '0.0' },
  ]
  behave = (response, type) =>
    response.end(type === 'spotClearinghouseState' ? JSON.stringify({ balances: held }) : EXAMPLES.get(type))
  const user = `0x${'56'.repeat(20)}`
  const reply = await world.call('GET', `/v1/hyperliquid/address/${user}/balances_v2/`, key)
  const { data } = (await reply.json()) as { data: { items: { coin: string }[] } }
  expect([reply.status, data.items.slice(0, 2).map(({ coin }) => coin)]).toEqual([200, ['T479', 'T301']])
  const socket = await Socket.open(`${world.ws}/ws?key=${key}`)
  for (const subscription of [{ type: 'spotAssetCtxs' }, { type: 'activeAssetCtx', coin: '@367' }])
    socket.send({ method: 'subscribe', subscription })
  expect((await socket.channel('spotAssetCtxs')).data).toEqual(CONTEXTS)
  expect((await socket.channel('activeSpotAssetCtx')).data).toEqual({ coin: '@367', ctx: CONTEXTS[1] })
  socket.close()
  // What the live page makes of it.
  const listing = await world.info(key, { type: 'spotMetaAndAssetCtxs' })
  const markets = spotMarkets((await listing.json()) as Parameters<typeof spotMarkets>[0])
  expect(markets.map(({ coin, name }) => [coin, name])).toEqual([
    ['@300', '?/T0'],
    ['@367', 'T479/T0'],
  ])
})

it('every type requires a key', async () => {
  for (const { type, example } of CATALOGUE) {
    const reply = await world.info(null, { type, ...example.request })
    expect([type, reply.status, reply.headers.get('x-credits-cost')]).toEqual([type, 401, '0'])
    expect(await reply.json()).toMatchObject({ code: 'unauthorized' })
  }
})

it('a restarted gateway serves cached copies with their age without a source', async () => {
  const meta = await (await world.info(key, { type: 'meta' })).text()
  await world.stop(true)
  world = await startWorld({ state: world.state, node: 'http://127.0.0.1:1' })
  const reply = await world.info(key, { type: 'meta' })
  expect([reply.status, await reply.text(), reply.headers.get('x-credits-cost')]).toEqual([200, meta, '1'])
  expect(Number(reply.headers.get('age') ?? -1)).toBeGreaterThanOrEqual(0)
  const user = await world.info(key, { type: 'userRole', user: `0x${'34'.repeat(20)}` })
  expect([user.status, user.headers.get('x-credits-cost')]).toEqual([502, '0'])
})
