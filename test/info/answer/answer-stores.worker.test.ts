// Response caches on the real platform: isolates share copies, and keys reveal nothing about callers.

import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { cacheStore, kvStore } from '../../../src/info/answer/answer-stores.store.ts'

const KEY = '{"type":"meta","dex":"xyz"}'
const ORIGIN = 'https://api.example.com'
const STORES = [
  ['the Cache API', (chain: string) => cacheStore(caches.default, chain, () => ORIGIN)],
  ['KV', (chain: string) => kvStore(env.KEYS, chain)],
] as const

it.each(STORES)('%s returns the stored bytes only for the same chain and request', async (name, store) => {
  const chain = `chain of ${name}`
  const text = '{"v":1}\n{"name":"Kaffee ☕","px":"1.50"}'
  expect(await store(chain).get(KEY)).toBeNull()
  await store(chain).put(KEY, text, 60)
  expect(await store(chain).get(KEY)).toBe(text)
  expect(await store(chain).get('{"type":"meta"}')).toBeNull()
  expect(await store('another').get(KEY)).toBeNull()
  await store(chain).put(KEY, '2', 3600)
  expect(await store(chain).get(KEY)).toBe('2')
})

it('KV uses only hashes as names, separate from API keys', async () => {
  await kvStore(env.KEYS, 'named').put(KEY, 'x', 1)
  const { keys } = await env.KEYS.list({ prefix: 'answer:' })
  expect(keys.length).toBeGreaterThan(0)
  for (const { name } of keys) expect(name).toMatch(/^answer:[0-9a-f]{64}$/)
})

it('the Cache API uses the origin of the gateway, and no key before it is known', async () => {
  const urls: string[] = []
  const cache = {
    match: async (url: unknown) => void urls.push(String(url)) as undefined,
    put: async (url: unknown) => void urls.push(String(url)),
  }
  let origin: string | null = null
  const store = cacheStore(cache, 'c', () => origin)
  await store.put(KEY, 'x', 60)
  expect([await store.get(KEY), urls]).toEqual([null, []])
  origin = ORIGIN
  await store.put(KEY, 'x', 60)
  await store.get(KEY)
  expect(urls).toEqual([urls[0], urls[0]])
  expect(urls[0]).toMatch(/^https:\/\/api\.example\.com\/\.weir\/answers\/1\/[0-9a-f]{64}$/)
})
