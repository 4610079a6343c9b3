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
      balance: async () => 1e9,
      charging: () => {
        throw new Error('connecting holds no credits')
      },
      relay: () => ({
        fetch: async (url: RequestInfo | URL, init?: RequestInit) => {
          const { headers } = new Request(url as string, init as RequestInit)
          seen.push({ url: String(url), headers: Object.fromEntries(headers) })
          return new Response(null, { status: 503 })
        },
      }),
      requestId: () => 'req_1',
    } as never,
    { pathKeys: true, chain: 'c', relaysPerRegion: 2 },
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
