// One contract for all endpoints, cell by cell: each way to send a key, each state of a key, each invalid input.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { mintKey } from '../../src/accounts/digest.client.ts'
import { Feeder } from '../kit/feeder.ts'
import { ADMIN_TOKEN, KEY_SECRET, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { Socket } from '../kit/socket.ts'
import { BAD_FRAMES, BAD_INPUT, BAD_MESSAGES } from './contract/bad-input.ts'
import { graphqlSocket, knock, type Sent, send, wordsOf } from './contract/requests.ts'
import { type Carried, DOORS, type Door, FAILURES, type FailureName } from './contract/table.ts'

const HOME = '203.0.113.1'
type Kind = Door['kind']
type Keys = Readonly<Record<Kind, string>>

let world: World
let blocks: NodeJS.Timeout
let upstream: HttpServer
let good: Keys
/** By what is wrong with them. */
let infoOnly: string
let bad: Readonly<Partial<Record<FailureName, Keys>>>

/** A key of each kind, of an account of its own. */
async function newKeys(credits: string, more: Record<string, unknown> = {}): Promise<Keys> {
  const make = (kind: Kind) => world.newKey(credits, { plan: 'enterprise', kind, ...more })
  const [api, service] = await Promise.all([make('api'), make('service')])
  return { api, service }
}
const eachOf = async (keys: Keys, change: (key: string) => unknown): Promise<Keys> => {
  await Promise.all([change(keys.api), change(keys.service)])
  return keys
}
const minted = async (secret: string): Promise<Keys> => ({
  api: await mintKey('api', secret),
  service: await mintKey('service', secret),
})

beforeAll(async () => {
  upstream = await startServer(async (request, response) => {
    const body = await text(request)
    response.setHeader('content-type', 'application/json')
    if (request.url!.startsWith('/late')) return
    if (request.url!.startsWith('/busy')) return response.writeHead(429, { 'retry-after': '1' }).end()
    if (request.url!.startsWith('/lying')) return response.end('[{"jsonrpc":"2.0","id":9,"result":1}]')
    if (request.method === 'GET')
      return response.end('{"data":{"items":[]},"error":false,"error_message":null,"error_code":null}')
    if (request.url === '/failing') return response.writeHead(500).end()
    // An exchange that knows a single type.
    if (request.url === '/info' && !body.includes('exchangeStatus')) return response.writeHead(500).end()
    if (request.url === '/info') return response.end('{"time":1,"specialStatuses":null}')
    const one = ({ id }: { id: unknown }) => ({ jsonrpc: '2.0', id, result: false })
    const asked = JSON.parse(body) as { id: unknown } | { id: unknown }[]
    return response.end(JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)))
  })
  const { origin, host } = new URL(upstream.url)
  const chains = [
    { name: 'stub', urls: [`${origin}/evm`], dataUrl: `http://service-key:@${host}/` },
    { name: 'failing', urls: [`${origin}/failing`] },
    ...['late', 'busy', 'lying'].map((name) => {
      return {
        name,
        urls: [`${origin}/${name}`],
        dataUrl: `${origin}/${name}`,
        timeoutMs: name === 'late' ? 50 : 5_000,
      }
    }),
    { name: 'away', urls: ['http://127.0.0.1:1'], dataUrl: 'http://127.0.0.1:1' },
  ]
  const sources = [
    { name: 'late', url: `${origin}/late`, types: ['perpDexLimits'], timeoutMs: 50 },
    { name: 'busy', url: `${origin}/busy`, types: ['vaultSummaries'] },
    {
      name: 'node',
      url: `${origin}/info`,
      types: ['exchangeStatus', 'maxMarketOrderNtls', 'perpDexs', 'userAbstraction', 'clearinghouseState'],
    },
  ]
  const vars = { RPC_CHAINS: JSON.stringify(chains), UPSTREAMS: JSON.stringify(sources), TRUST_PROXY: 'on' }
  world = await startWorld({ vars })
  const feeder = await Feeder.connect(world.ws)
  await feeder.hello()
  feeder.snapshot(1, 70, [{ coin: 'BTC', levels: [[{ px: '1', sz: '1', n: 1 }], []] }])
  // A chain that stands still is let go of by its objects, and a book that no block had touched with them.
  let height = 1
  blocks = setInterval(() => feeder.block({ height: ++height, books: [] }), 1_000)
  good = await newKeys('1000')
  infoOnly = await world.newKey('1000', { products: ['info'] })
  const end = (key: string) => world.admin('DELETE', `/keys/${key.slice(0, 12)}`)
  const replace = (key: string) => world.admin('POST', `/keys/${key.slice(0, 12)}/rotate`, { grace_seconds: 0 })
  const terms = { rest_requests_per_second: 1, info_requests_per_second: 1, stream_connections: 1 }
  const expires = Date.now() + 1_500
  bad = {
    expired: await newKeys('1000', { expires }),
    'cut short': { api: good.api.slice(0, -1), service: good.service.slice(0, -1) },
    'of another gateway': await minted('secret of another gateway'),
    unknown: await minted(KEY_SECRET),
    revoked: await eachOf(await newKeys('1000'), end),
    replaced: await eachOf(await newKeys('1000'), replace),
    'of the wrong kind': { api: good.service, service: good.api },
    // The one is for what the other is not for.
    'for another product': { api: await world.newKey('1000', { products: ['platform'] }), service: '' },
    'used from elsewhere': await newKeys('1000', { ranges: ['192.0.2.0/24'] }),
    spent: await newKeys('0'),
    'over its cap': await newKeys('1000', { cap: '0' }),
    'over its rate': await newKeys('1000', { terms }),
  }
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(expires), { timeout: 10_000 })
})
afterAll(async () => {
  clearInterval(blocks)
  await world?.stop()
  upstream?.close()
})

const doors = Object.entries(DOORS) as unknown as [name: string, door: Door][]
const firstWay = ({ ways }: Door) => Object.values(ways)[0]!
const named = <Value>(table: Readonly<Record<string, Value>>) =>
  Object.entries(table).map(([name, value]) => [name, value] as const)

/** One knock, and what is told; sockets are closed. */
async function told(door: Door, carried: Carried): Promise<string> {
  const { words, answer, close } = await knock(world.url, door, carried)
  close()
  if (answer !== null && answer.status >= 400) expect(answer.headers['x-credits-cost']).toBe('0')
  if (answer?.status === 402) expect(answer.headers['x-credits-remaining']).toBe('0')
  return words
}

/** Knocks until it is too often; what was opened stays open until then. */
async function tooOften(door: Door, carried: Carried): Promise<string> {
  const opened = []
  for (let at = 0; at < 20; at++) {
    const one = await knock(world.url, door, carried)
    opened.push(one)
    // Of a batch, some calls may be refused.
    if (one.words !== door.good && one.answer?.status !== 200) break
  }
  for (const { close } of opened) close()
  return opened.at(-1)!.words
}

describe.each(doors)('%s', (_, door) => {
  const { convention, kind, ways, refusedWays, brokenWays = {}, never } = door

  // WS-1
  it.each(named(ways))('takes a key %s', async (_, way) => {
    expect(await told(door, way(good[kind]))).toBe(door.good)
  })

  it.each(named(refusedWays))('sees no key %s', async (_, way) => {
    expect(await told(door, way(good[kind]))).toBe(FAILURES.missing[convention])
  })

  it.each(named(brokenWays))('takes no key %s', async (_, way) => {
    expect(await told(door, way(good[kind]))).toBe(FAILURES.unknown[convention])
  })

  // WS-2, GQL-2, GQL-4
  it.each(named(FAILURES).filter(([name]) => !(name in never) && !name.startsWith('while')))(
    'with a key %s',
    async (name, words) => {
      const isOther = name === 'for another product' && door.path.startsWith('/platform')
      const key = name === 'missing' ? null : isOther ? infoOnly : bad[name as FailureName]![kind]
      const carried = key === null ? {} : firstWay(door)(key)
      const ask = name === 'over its rate' ? tooOften : told
      const from = { ...carried, headers: { ...carried.headers, 'cf-connecting-ip': HOME } }
      expect(await ask(door, name === 'used from elsewhere' ? from : carried)).toBe(words[convention])
    },
  )
})

describe('a key in the path', () => {
  const others = doors.filter(([, { path }]) => !['/info', '/ws', '/graphql'].includes(path))
  it.each(others)('opens no %s', async (_, { method, path, kind }) => {
    const answer = await send(world.url, { method, path: `/k/${good[kind]}${path}` })
    expect(wordsOf('info', answer)).toBe('404 not_found')
    expect(answer.text).not.toContain(good[kind])
  })
})

/** What a key has left, as its account's meter has it. */
async function leftOf(key: string): Promise<number> {
  const answer = await world.call('GET', '/platform/key/', key)
  return Number(((await answer.json()) as { data: { balance: string } }).data.balance)
}

/** One key for ten that knock in turn: work that costs nothing is bounded, too. */
const knocking = new Map<string, Promise<string>>()
let knocks = 0
/** Each isolate may hold some. */
const knockerCredits = () => `${5 * world.isolates}`

function knockersKey(kind: Kind = 'api'): Promise<string> {
  const name = `${kind} ${Math.floor(knocks++ / 10)}`
  const key = knocking.get(name) ?? world.newKey(knockerCredits(), { plan: 'enterprise', kind })
  knocking.set(name, key)
  return key
}

const bodies = Object.entries(BAD_INPUT).map(([name, cases]) => ({
  name,
  door: DOORS[name as keyof typeof DOORS] as Door,
  cases,
}))

describe.each(bodies)('bad input at $name', ({ door, cases }) => {
  it.each(named(cases))(
    '%s is rejected in the documented form, free of charge',
    async (_, { says, worded, ...bad }) => {
      const key = await knockersKey(door.kind)
      const { headers = {}, query = '' } = firstWay(door)(key)
      const body = door.body === undefined ? {} : { body: JSON.stringify(door.body) }
      const sent = { path: door.path, method: door.method, ...body, ...bad }
      const json = sent.body === undefined ? {} : { 'content-type': 'application/json' }
      const answer = await send(world.url, {
        ...sent,
        path: sent.path + query,
        headers: { ...headers, ...(bad.headers ?? json) },
      })
      expect(wordsOf(worded ?? door.convention, answer, sent.method)).toBe(says)
      if (says !== '204') expect(answer.headers['x-credits-cost']).toBe('0')
      expect(answer.headers['x-credits-remaining'] ?? knockerCredits()).toBe(knockerCredits())
      expect(`${await leftOf(key)}`).toBe(knockerCredits())
    },
  )
})

describe('an invalid frame', () => {
  it.each(named(BAD_FRAMES))('of /ws: %s', async (_, [frame, code]) => {
    const key = await knockersKey()
    const socket = await Socket.open(`${world.ws}/ws?key=${key}`)
    socket.send(frame)
    const error = await socket.channel('error')
    if (typeof code === 'string') expect(error).toEqual({ channel: 'error', data: expect.any(String), code })
    else expect(await socket.ended()).toBe(code)
    socket.close()
    expect(`${await leftOf(key)}`).toBe(knockerCredits())
  })

  // WS-4
  it('of /ws: a subscribe beyond the cap of its key', async () => {
    const socket = await Socket.open(`${world.ws}/ws?key=${bad['over its cap']!.api}`)
    socket.send({ method: 'subscribe', subscription: { type: 'allFills' } })
    expect(await socket.channel('error')).toMatchObject({ code: 'credits_exhausted' })
    socket.close()
  })

  it.each(named(BAD_MESSAGES))('of /graphql: %s', async (_, [message, code]) => {
    const key = await knockersKey()
    const socket = await graphqlSocket(world.url)
    socket.send({ type: 'connection_init', payload: { SERVICE_API_KEY: key } })
    expect(await socket.next()).toEqual({ type: 'connection_ack' })
    socket.send(message)
    const said = expect.objectContaining({ message: expect.any(String), extensions: { code } })
    expect(await socket.next()).toEqual(
      typeof code === 'number' ? `close ${code}` : { id: '1', type: 'error', payload: [said] },
    )
    socket.close()
    expect(`${await leftOf(key)}`).toBe(knockerCredits())
  })

  // GQL-3
  it('of /graphql: a subscribe before connection_init', async () => {
    const socket = await graphqlSocket(world.url)
    socket.send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } })
    expect(await socket.next()).toBe('close 4401')
  })
})

describe('the operator’s API', () => {
  const ask = async (token: string | null, bad: Partial<Sent> = {}, from = '') => {
    const headers = { ...(token === null ? {} : { authorization: token }), ...(from && { 'cf-connecting-ip': from }) }
    const answer = await send(world.url, { path: '/admin/keys', method: 'GET', ...bad, headers })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    return wordsOf('rest', answer, bad.method)
  }
  const token = `Bearer ${ADMIN_TOKEN}`

  it.each([
    ['nothing', () => null],
    ['another token', () => 'Bearer x'.repeat(9)],
    ['the token without a scheme', () => ADMIN_TOKEN],
    ['the token as basic credentials', () => `Basic ${btoa(`${ADMIN_TOKEN}:`)}`],
    ['an API key', () => `Bearer ${good.api}`],
    ['a service key', () => `Bearer ${good.service}`],
  ])('is closed to %s', async (_, shown) => {
    expect(await ask(shown())).toBe('401')
  })

  it('delays guesses of tokens, but never the right one', async () => {
    const tries = await Promise.all(
      Array.from({ length: 25 * world.isolates }, () => ask('Bearer x', {}, '198.51.100.1')),
    )
    expect(tries.filter((words) => words === '429').length).toBeGreaterThanOrEqual(4)
    expect(await ask(token, {}, '198.51.100.1')).toBe('200')
  })

  it.each([
    ['truncated JSON', { method: 'POST', body: '{' }, '400'],
    ['an empty batch', { method: 'POST', body: '[]' }, '400'],
    ['an unknown field', { method: 'POST', body: '{"nope":1}' }, '400'],
    ['an unknown product', { method: 'POST', body: '{"products":["nope"]}' }, '400'],
    ['a body over the bound', { method: 'POST', body: ' '.repeat(16 * 1024 + 1) }, '413'],
    ['an invalid endpoint', { path: '/admin/nope' }, '404'],
    ['an unknown account', { path: '/admin/accounts/nope' }, '404'],
    ['a key in the path', { method: 'DELETE', path: `/admin/keys/cqt_${'1'.repeat(26)}` }, '400'],
  ])('refuses %s', async (_, bad, says) => {
    expect(await ask(token, bad)).toBe(says)
  })
})

describe('the feeder endpoint', () => {
  it.each([
    ['nothing', () => ({})],
    ['an API key', () => ({ authorization: `Bearer ${good.api}` })],
    ['a service key', () => ({ authorization: `Bearer ${good.service}` })],
    ['the operator’s token', () => ({ authorization: `Bearer ${ADMIN_TOKEN}` })],
  ])('is closed to %s', async (_, headers) => {
    const answer = await send(world.url, { method: 'GET', path: '/feed', headers: headers() }, true)
    answer.socket?.destroy()
    expect(wordsOf('rest', answer)).toBe('401')
  })
})

/** As nobody would: a table of theirs has another name from now on. */
function breakStores(folder: string, table: string): void {
  for (const path of globSync(`v3/${folder}/*.sqlite`, { cwd: world.state })) {
    const database = new DatabaseSync(join(world.state, path), { timeout: 5_000 })
    const has = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
    if (has) database.exec(`ALTER TABLE ${table} RENAME TO ${table}_gone`)
    database.close()
  }
}

// From here on nothing works any more.
describe('an internal error', () => {
  it.each([
    ['list of pipelines', 'pipelines'],
    ['history of the data API', 'segments'],
  ] as const)('at the %s is a 500, free of charge', async (name, table) => {
    const { [name]: door } = DOORS
    const key = good[door.kind]
    const before = await leftOf(key)
    breakStores('d1/miniflare-D1DatabaseObject', table)
    expect(await told(door, firstWay(door)(key))).toBe('500')
    expect(await leftOf(key)).toBe(before)
  })
})

describe.each([
  ['while the meter is away', 'do/weir-live-CreditMeter', 'account', () => newKeys('1000')],
  ['while keys are away', 'd1/miniflare-D1DatabaseObject', 'keys', () => minted(KEY_SECRET)],
] as const)('%s', (name, folder, table, make) => {
  const keys: Record<string, Keys> = {}
  beforeAll(async () => {
    // None that anybody has looked up.
    for (const [door] of doors) keys[door] = await make()
    breakStores(folder, table)
  })

  it.each(doors)('%s', async (own, door) => {
    expect(await told(door, firstWay(door)(keys[own]![door.kind]))).toBe(FAILURES[name][door.convention])
  })
})
