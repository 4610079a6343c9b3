// The two shared response caches. Their key is a hash of the chain and the canonical request, and contains nothing
// about the caller. The Cache API is local to a data center and does nothing on workers.dev.

import type { AnswerStore } from './answer-tiers.ts'

/** Fictitious origin; used only as a cache key. */
const CACHE_ORIGIN = 'https://answers.weir.invalid/1/'
/** Minimum TTL of KV. */
const KV_MIN_SECONDS = 60

/** Cache API of the data center, for one chain. */
export function cacheStore(cache: Pick<Cache, 'match' | 'put'>, chain: string): AnswerStore {
  const urlOf = async (key: string) => CACHE_ORIGIN + (await nameOf(chain, key))
  return {
    async get(key) {
      const response = await cache.match(await urlOf(key))
      return response ? await response.text() : null
    },
    async put(key, text, seconds) {
      const headers = { 'cache-control': `public, max-age=${seconds}`, 'content-type': 'text/plain' }
      await cache.put(await urlOf(key), new Response(text, { headers }))
    },
  }
}

/** KV with keys `answer:<hash>`, for one chain. */
export function kvStore(kv: Pick<KVNamespace, 'get' | 'put'>, chain: string): AnswerStore {
  const keyOf = async (key: string) => `answer:${await nameOf(chain, key)}`
  return {
    get: async (key) => kv.get(await keyOf(key), { type: 'text' }),
    async put(key, text, seconds) {
      await kv.put(await keyOf(key), text, { expirationTtl: Math.max(seconds, KV_MIN_SECONDS) })
    },
  }
}

async function nameOf(chain: string, key: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${chain}\n${key}`))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
