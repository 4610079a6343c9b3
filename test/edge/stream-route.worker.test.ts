import { expect, it } from 'vitest'
import { streamRoutes } from '../../src/edge/stream.route.ts'
import { IDENTITY_HEADER, type Identity } from '../../src/key/identity.ts'

const KEY = `cqt_${'Canary'.repeat(4)}22`
const identity: Identity = { v: 1, account: 'a', keyHash: 'h', kind: 'api', plan: 'trial', products: ['stream'] }

it('tells a relay who calls, and neither the key nor anything else of the caller', async () => {
  const seen: { url: string; headers: Record<string, string> }[] = []
  const app = streamRoutes<object>(
    {
      authenticate: async () => ({ ok: true, value: identity }),
      charging: () => {
        throw new Error('connecting holds no credits')
      },
      relay: () => ({
        fetch: async (url: RequestInfo | URL, init?: RequestInit) => {
          const { headers } = new Request(url as string, init as RequestInit)
          seen.push({ url: String(url), headers: Object.fromEntries(headers) })
          return Response.json({ why: 'full', left: 0 }, { status: 503 })
        },
      }),
      requestId: () => 'req_1',
    } as never,
    { pathKeys: true, relaysPerRegion: 2 },
  )
  const headers = {
    upgrade: 'websocket',
    authorization: `Bearer ${KEY}`,
    cookie: KEY,
    [IDENTITY_HEADER]: JSON.stringify({ ...identity, account: 'forged' }),
  }
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} }
  for (const path of [`/ws?key=${KEY}`, `/k/${KEY}/ws`, '/ws'])
    await app.request(`http://weir${path}`, { headers }, {}, context as never)
  expect(seen).toHaveLength(6)
  for (const { url, headers: sent } of seen) {
    expect(url).toBe('http://relay/ws')
    expect(JSON.stringify(sent)).not.toContain('Canary')
    expect(sent[IDENTITY_HEADER]).toBe(JSON.stringify(identity))
  }
})

// WS-2
it('says how to connect to who did not ask for a socket, with or without a key', async () => {
  const app = streamRoutes<object>(
    { authenticate: () => Promise.reject(new Error('not asked')), requestId: () => 'req_1' } as never,
    { pathKeys: false, relaysPerRegion: 1 },
  )
  const response = await app.request('http://weir/ws', {}, {})
  const { msg } = (await response.json()) as { msg: string }
  expect([response.status, msg]).toEqual([
    422,
    expect.stringMatching(/^upgrade: connect with a WebSocket client .*\?key=<key>/),
  ])
})

// WS-2, WS-5
it('says why a relay does not take a socket, and asks no other one', async () => {
  const answer = async (why: string) => {
    let asked = 0
    const app = streamRoutes<object>(
      {
        authenticate: async () => ({ ok: true, value: identity }),
        relay: () => ({
          fetch: async () => {
            asked++
            return Response.json({ why, left: 70_000 }, { status: 503 })
          },
        }),
        requestId: () => 'req_1',
      } as never,
      { pathKeys: false, relaysPerRegion: 3 },
    )
    const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} }
    const response = await app.request('http://weir/ws', { headers: { upgrade: 'websocket' } }, {}, context as never)
    const retryAfter = response.headers.get('retry-after')
    return { asked, status: response.status, retryAfter, body: (await response.json()) as Record<string, unknown> }
  }
  const limit = await answer('limit')
  expect(limit).toMatchObject({ asked: 1, status: 429, retryAfter: null })
  expect(limit.body).toMatchObject({ code: 'rate_limited', limit: 'stream_connections', most: 100 })
  expect(limit.body.msg).toMatch(/^stream_connections: this account's plan allows 100 at a time/)
  expect(await answer('exhausted')).toMatchObject({ asked: 1, status: 402, body: { code: 'credits_exhausted' } })
  expect(await answer('revoked')).toMatchObject({ asked: 1, status: 401 })
  expect(await answer('unmetered')).toMatchObject({ asked: 1, status: 503, retryAfter: '1' })
  expect(await answer('full')).toMatchObject({ asked: 3, status: 503, retryAfter: '5' })
})
