// Every upstream info type over real HTTP: bytes, price and failures.

import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CATALOGUE, queryOf } from '../../src/info/queries/catalogue.ts'
import { usesHistory, usesUpstream } from '../../src/info/query.ts'
import { ANSWERS, REQUESTS, WIRES } from '../fixtures/wire.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'

const dexOf = ([wire]: readonly [string, ...unknown[]]) => wire.slice(0, 3)
const EXAMPLES = new Map(CATALOGUE.map(({ type, example }) => [type, JSON.stringify(example.response)]))
// A DEX for each folder of answers: an answer of the cache would prove nothing.
const [, DEX] = queryOf('perpDexs')!.example.response as [null, object]
EXAMPLES.set('perpDexs', JSON.stringify([null, ...['xyz', ...WIRES.map(dexOf)].map((name) => ({ ...DEX, name }))]))
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
