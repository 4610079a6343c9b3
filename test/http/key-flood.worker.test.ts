// Floods of keys through the real route: calls of KV, D1 and the platform's rate limit are bounded.

import { describe, expect, it } from 'vitest'
import { hashKey, mintKey } from '../../src/accounts/digest.client.ts'
import { KeyResolver, type KeyResolverEnv } from '../../src/accounts/key-resolver.store.ts'
import { randomBase58 } from '../../src/core/base58.ts'
import { ok } from '../../src/core/result.ts'
import { infoRoutes } from '../../src/http/info.route.ts'
import type { InfoService } from '../../src/info/answer/info-service.ts'

const SECRET = 'secret-of-the-flood-tests-of-32-chars'
const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
const inventedKey = () => `cqt_${randomBase58(26, random)}`
const wellFormed = () => mintKey('api', SECRET)

/** A location with this many isolates over one KV and one D1 that know one key. */
async function location(isolates: number, { binding = true } = {}) {
  const known = await wellFormed()
  const hash = await hashKey(known)
  const key = { hash, account: 'a', kind: 'api', products: '["info"]', expires: null, revoked: null }
  const row = { ...key, plan: 'entry', terms: null, limits: null }
  const counts = { kv: 0, d1: 0, binding: 0 }
  const away = { kv: false, d1: false }
  let now = 1_000_000
  const windows = new Map<string, number>()
  const env = {
    KEY_SECRET: SECRET,
    KEY_CHECK: true,
    TRUST_PROXY: true,
    KEYS: {
      get: async () => {
        counts.kv++
        if (away.kv) throw new Error('KV GET failed: 500')
        return null
      },
      put: async () => undefined,
    },
    ACCOUNTS: {
      prepare: () => ({
        bind: (wanted: string) => ({
          first: async () => {
            counts.d1++
            if (away.d1) throw new Error('D1_ERROR: internal error')
            return wanted === hash ? row : null
          },
        }),
      }),
    },
    ...(binding && {
      LOOK_UP_LIMIT: {
        limit: async ({ key }: { key: string }) => {
          counts.binding++
          const window = `${key} ${Math.floor(now / 10_000)}`
          const used = windows.get(window) ?? 0
          windows.set(window, used + 1)
          return { success: used < 500 }
        },
      },
    }),
  } as unknown as KeyResolverEnv
  const service = { handle: async () => ({ status: 200, headers: {}, body: '{}' }) } as unknown as InfoService
  const routes = Array.from({ length: isolates }, () => {
    const keys = new KeyResolver(() => now)
    return infoRoutes(
      service,
      {
        authenticate: (request, entry, waitUntil) => keys.authenticate(env, request, entry, waitUntil),
        charging: () => ({ hold: async () => ok({ settle: () => 0, release: () => 0 }) }),
        requestId: () => 'req_1',
      },
      { pathKeys: false },
    )
  })
  const send = async (isolate: number, key: string | null, address: string | null) => {
    const headers = {
      'content-type': 'application/json',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(address && { 'cf-connecting-ip': address }),
    }
    return routes[isolate]!.request('/info', { method: 'POST', headers, body: '{}' }, env, context as never)
  }
  return { counts, away, send, known, pass: (ms: number) => (now += ms) }
}

describe('stores that fail', () => {
  it('do not block callers: KV is optional, and callers retry later while D1 fails', async () => {
    const { away, send, known, pass } = await location(1)
    away.kv = away.d1 = true
    const refused = await send(0, known, '192.0.2.1')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'unavailable', msg: expect.stringContaining('API keys') })
    away.d1 = false
    expect((await send(0, known, '192.0.2.1')).status).toBe(200)
    pass(3_600_000)
    away.d1 = true
    expect((await send(0, await wellFormed(), '192.0.2.1')).status).toBe(503)
  })
})

describe('a flood from one address', () => {
  it('without keys or with invalid ones causes no lookup', async () => {
    const { counts, send } = await location(1)
    for (let i = 0; i < 40; i++) {
      expect((await send(0, null, '192.0.2.1')).status).toBe(401)
      expect((await send(0, 'nonsense', '192.0.2.1')).status).toBe(401)
      expect((await send(0, inventedKey(), '192.0.2.1')).status).toBe(401)
    }
    expect(counts).toEqual({ kv: 0, d1: 0, binding: 0 })
  })

  it.each([true, false])('of well-formed keys reaches KV and D1 50 times per second (binding: %s)', async (binding) => {
    const { counts, send, pass } = await location(1, { binding })
    const keys = await Promise.all(Array.from({ length: 2_000 }, wellFormed))
    let refused: Response | undefined
    for (let second = 0; second < 4; second++) {
      for (const key of keys.slice(second * 500, (second + 1) * 500)) {
        const answer = await send(0, key, '192.0.2.1')
        if (answer.status === 429) refused = answer
      }
      pass(1_000)
    }
    expect(counts).toEqual({ kv: 200, d1: 200, binding: binding ? 200 : 0 })
    expect(Object.fromEntries(refused!.headers)).toMatchObject({
      'retry-after': '1',
      ratelimit: '"look-ups";r=0;t=1',
      'ratelimit-policy': '"look-ups";q=50;w=1',
    })
  })

  it('across many isolates is limited by the count of the location', async () => {
    const { counts, send } = await location(20)
    const keys = await Promise.all(Array.from({ length: 1_000 }, wellFormed))
    const answers = new Map<string, number>()
    for (const [i, key] of keys.entries()) {
      const { status, headers } = await send(i % 20, key, '192.0.2.1')
      const answer = `${status}, again in ${headers.get('retry-after')}`
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    expect(counts).toEqual({ kv: 500, d1: 500, binding: 1_000 })
    expect(Object.fromEntries(answers)).toEqual({ '401, again in null': 500, '429, again in 10': 500 })
    expect((await send(0, await wellFormed(), '198.51.100.1')).status).toBe(401)
  })

  it('of one key is a single lookup; callers without an address share a limit', async () => {
    const { counts, send } = await location(1)
    const key = await wellFormed()
    const answers = await Promise.all(Array.from({ length: 300 }, () => send(0, key, '192.0.2.1')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    expect(counts).toEqual({ kv: 1, d1: 1, binding: 1 })
    const keys = await Promise.all(Array.from({ length: 2_100 }, wellFormed))
    await Promise.all(keys.map((each) => send(0, each, null)))
    expect(counts).toEqual({ kv: 2_001, d1: 2_001, binding: 1 })
  })

  it('does not block known keys of that address, even on refresh', async () => {
    const { counts, send, known, pass } = await location(1)
    expect((await send(0, known, '192.0.2.1')).status).toBe(200)
    while (counts.kv < 50) expect((await send(0, await wellFormed(), '192.0.2.1')).status).toBe(401)
    expect((await send(0, await wellFormed(), '192.0.2.1')).status).toBe(429)
    const before = { ...counts }
    for (let i = 0; i < 100; i++) expect((await send(0, known, '192.0.2.1')).status).toBe(200)
    expect(counts).toEqual(before)
    pass(31_000)
    for (let i = 0; i < 50; i++) await send(0, await wellFormed(), '192.0.2.1')
    expect((await send(0, await wellFormed(), '192.0.2.1')).status).toBe(429)
    expect((await send(0, known, '192.0.2.1')).status).toBe(200)
  })
})
