import { expect, it } from 'vitest'
import type { Identity } from '../../src/accounts/identity.ts'
import { IDENTITY_HEADER } from '../../src/accounts/identity.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { graphqlRoutes, streamRoutes } from '../../src/http/stream.route.ts'
import { relayOrder } from '../../src/relay/sockets/placement.ts'
import type { RelayRegion } from '../../src/relay/sockets/region.ts'
import { identityOf } from '../kit/identity.ts'

const KEY = `cqt_${'Canary'.repeat(4)}22`
const identity = identityOf('trial', ['stream'], 'a', 'h')

type Fetch = (url: RequestInfo | URL, init?: RequestInit) => Promise<Response>
type Who = (request: Request) => Partial<Identity>

const CONTEXT = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} } as never
const full = (body: object) => Response.json(body, { status: 503 })

/** Sends a request to a gateway with scripted relays. */
function connecting(
  relay: (index: number) => Fetch,
  {
    nowMs = () => 0,
    who = () => ({}),
    relays = 3,
    regions = null as readonly RelayRegion[] | null,
    seen = [] as string[],
  }: {
    nowMs?: () => number
    who?: Who
    relays?: number
    regions?: readonly RelayRegion[] | null
    seen?: string[]
  } = {},
) {
  const app = streamRoutes(
    {
      authenticate: async (request: Request) => ({ ok: true, value: { ...identity, ...who(request) } }),
      charging: () => ({
        hold: () => {
          throw new Error('connecting holds no credits')
        },
      }),
      relay: (region: string, index: number) => {
        seen.push(region)
        return { fetch: relay(index) }
      },
      requestId: () => 'req_1',
      nowMs,
    } as never,
    { pathKeys: true, relaysPerRegion: relays, relayRegions: regions },
  )
  return (path: string, headers: Record<string, string> = {}, cf?: object) => {
    const request = new Request(`http://weir${path}`, { headers: { upgrade: 'websocket', ...headers } })
    if (cf !== undefined) Object.defineProperty(request, 'cf', { value: cf })
    return app.fetch(request, {}, CONTEXT)
  }
}

it('passes the identity to a relay, but neither the key nor other headers', async () => {
  const seen: { url: string; headers: Record<string, string> }[] = []
  let now = 0
  const connect = connecting(
    () => async (url, init) => {
      const { headers } = new Request(url as string, init as RequestInit)
      seen.push({ url: String(url), headers: Object.fromEntries(headers) })
      return full({ why: 'full', left: 0 })
    },
    { nowMs: () => (now += 10_000), relays: 2 },
  )
  const forged = JSON.stringify({ ...identity, account: 'forged' })
  for (const path of [`/ws?key=${KEY}`, `/k/${KEY}/ws`, '/ws'])
    await connect(path, { authorization: `Bearer ${KEY}`, cookie: KEY, [IDENTITY_HEADER]: forged })
  expect(seen).toHaveLength(6)
  for (const { url, headers: sent } of seen) {
    expect(url).toBe('http://relay/ws')
    expect(JSON.stringify(sent)).not.toContain('Canary')
    expect(sent[IDENTITY_HEADER]).toBe(JSON.stringify(identity))
  }
})

it('uses relays in the nearest region that the operator allows', async () => {
  const seen: string[] = []
  const regions: RelayRegion[] = ['apac-ne', 'weur']
  const connect = connecting(() => async () => full({ why: 'limit', left: 0 }), { regions, seen })
  await connect('/ws', {}, { continent: 'AS', country: 'SG' })
  await connect('/ws', {}, { continent: 'SA', country: 'BR' })
  await connect('/ws')
  expect(seen).toEqual(['apac-ne', 'weur', 'local'])
})

// WS-2, WS-5
it('reports why a relay rejects a socket, without trying others', async () => {
  const answer = async (why: string) => {
    let asked = 0
    const response = await connecting(() => async () => {
      asked++
      return full({ why, left: 70_000 })
    })('/ws')
    const retryAfter = response.headers.get('retry-after')
    return { asked, status: response.status, retryAfter, body: (await response.json()) as Record<string, unknown> }
  }
  const limit = await answer('limit')
  expect(limit).toMatchObject({ asked: 1, status: 429, retryAfter: '10' })
  expect(limit.body).toMatchObject({ code: 'rate_limited', limit: 'stream_connections', most: 100 })
  expect(limit.body.msg).toMatch(/^stream_connections: /)
  expect(await answer('exhausted')).toMatchObject({ asked: 1, status: 402, body: { code: 'credits_exhausted' } })
  expect(await answer('revoked')).toMatchObject({ asked: 1, status: 401 })
  expect(await answer('unmetered')).toMatchObject({ asked: 1, status: 503, retryAfter: '1' })
  expect(await answer('full')).toMatchObject({ asked: 3, status: 503, retryAfter: '5' })
})

/** A gateway with three scripted relays per pool; `asked`: numbers of the relays called, in order. */
function gateway(answer: (index: number) => string) {
  const asked: number[] = []
  const clock = { nowMs: 0 }
  const ask = connecting(
    (index) => async () => {
      asked.push(index)
      return full({ why: answer(index), left: 0 })
    },
    { nowMs: () => clock.nowMs, who: ({ headers }) => ({ account: String(headers.get('x-test-account')) }) },
  )
  const connect = async (account: string) => {
    asked.length = 0
    const response = await ask('/ws', { 'x-test-account': account })
    return { asked: [...asked], body: (await response.json()) as Record<string, unknown>, status: response.status }
  }
  return { clock, connect }
}

// WS-5
it('tries relays in the order of the account, and skips full ones for two seconds', async () => {
  const { clock, connect } = gateway(() => 'full')
  expect((await connect('a')).asked).toEqual(relayOrder('a', 'light', 3))
  expect(await connect('b')).toMatchObject({ asked: [], status: 503 })
  clock.nowMs += 2000
  expect((await connect('b')).asked).toEqual(relayOrder('b', 'light', 3))
})

// WS-62
it('sends a redirected account directly to the heavy relays for a minute', async () => {
  const { clock, connect } = gateway((index) => (relayOrder('', 'light', 3).includes(index) ? 'heavy' : 'limit'))
  const [first] = relayOrder('a', 'light', 3)
  const [heavy] = relayOrder('a', 'heavy', 3)
  expect(await connect('a')).toMatchObject({ asked: [first, heavy], status: 429 })
  expect((await connect('a')).asked).toEqual([heavy])
  expect((await connect('b')).asked).toHaveLength(2)
  clock.nowMs += 60_000
  expect((await connect('a')).asked).toEqual([first, heavy])
})

// WS-62
it('reports an account with too much unread data at a heavy relay', async () => {
  const { body, status } = await gateway(() => 'heavy').connect('a')
  expect([status, body.msg]).toEqual([503, expect.stringContaining('ping with a nonce')])
})

// WS-3
it('limits connects per key in 10 s to the plan’s sockets, and calls no relay for further ones', async () => {
  let asked = 0
  let nowMs = 0
  const ask = connecting(
    () => async () => {
      asked++
      return full({ why: 'limit', left: 0 })
    },
    {
      nowMs: () => nowMs,
      who: ({ headers }) => ({
        keyHash: keyHashOf(String(headers.get('x-test-key'))),
        plan: String(headers.get('x-test-plan')),
      }),
    },
  )
  const connect = (key: string, plan = 'trial') => ask('/ws', { 'x-test-key': key, 'x-test-plan': plan })
  for (let i = 0; i < 300; i++) await connect('hot')
  expect(asked).toBe(150)
  const refused = await connect('hot')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({
    code: 'rate_limited',
    msg: expect.stringContaining('150 times in 10 s'),
  })
  await connect('cool')
  expect(asked).toBe(151)
  nowMs += 1_000
  for (let i = 0; i < 300; i++) await connect('hot')
  expect(asked).toBe(166)
  for (let i = 0; i < 2_000; i++) await connect('large', 'professional')
  expect(asked).toBe(1_216)
})

// WS-3
it('reports the same limit if the relay did the counting', async () => {
  const response = await connecting(() => async () => full({ why: 'limit', left: 0, retryAfterMs: 3_500 }))('/ws')
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '4'])
  expect(await response.json()).toMatchObject({ code: 'rate_limited' })
})

// GET /graphql with relays that reject sockets.

const RELAYS = 3
const HEADERS = { upgrade: 'websocket', 'sec-websocket-protocol': 'graphql-transport-ws' }

/** Response of every relay. */
function routes(why: string) {
  const asked: string[] = []
  const fetch = async (_: string, { headers }: { headers: Record<string, string> }) => {
    asked.push(headers['x-weir-guest']!)
    return Response.json({ why, left: 0 }, { status: 503 })
  }
  const relay = () => ({ fetch }) as never
  const app = graphqlRoutes(
    { relay, requestId: () => 'r', nowMs: () => 0, isProxyTrusted: true },
    { relaysPerRegion: RELAYS, relayRegions: null },
  )
  const get = (address: string, more = {}) =>
    app.request('/graphql', { headers: { ...HEADERS, 'cf-connecting-ip': address, ...more } })
  return { asked, get }
}

// GQL-1
it.each([
  ['is full is not asked again at once', 'full', RELAYS],
  ['has enough of one address is asked for others', 'limit', 2 * RELAYS],
])('a relay that %s', async (_, why, times) => {
  const { asked, get } = routes(why)
  for (const address of ['192.0.2.1', '198.51.100.1']) {
    const answer = await get(address)
    const errors = [{ extensions: { code: 'UNAVAILABLE' } }]
    expect([answer.status, await answer.json()]).toMatchObject([503, { errors }])
  }
  expect(asked).toHaveLength(times)
})

// GQL-1
it('rejects other protocols, and too many sockets from one address', async () => {
  const { get } = routes('full')
  const other = await get('192.0.2.1', { 'sec-websocket-protocol': 'graphql-ws' })
  expect(other.status).toBe(400)
  const statuses: number[] = []
  for (let at = 0; at < 51; at++) statuses.push((await get('192.0.2.1')).status)
  expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  expect((await get('198.51.100.1')).status).toBe(503)
})
