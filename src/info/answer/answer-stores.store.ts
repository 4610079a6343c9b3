// The two shared response caches. Their key is a hash of the chain and the canonical request, and contains nothing
// about the caller. The Cache API is local to a data center and does nothing on workers.dev.

import type { AnswerStore } from './answer-tiers.ts'

/** The gateway serves nothing at this path, so only the Worker can read these cache entries. */
const CACHE_PATH = '/.weir/answers/1/'
/** Minimum TTL of KV. */
const KV_MIN_SECONDS = 60

/**
 * Cache API of the data center, for one chain. `origin`: the gateway's own, as the platform requires for its cache keys;
 * nothing is cached while it is null.
 */
export function cacheStore(
  cache: Pick<Cache, 'match' | 'put'>,
  chain: string,
  origin: () => string | null,
): AnswerStore {
  const urlOf = async (key: string) => {
    const own = origin()
    return own === null ? null : `${own}${CACHE_PATH}${await nameOf(chain, key)}`
  }
  return {
    async get(key) {
      const url = await urlOf(key)
      const response = url === null ? undefined : await cache.match(url)
      return response ? await response.text() : null
    },
    async put(key, text, seconds) {
      const url = await urlOf(key)
      const headers = { 'cache-control': `public, max-age=${seconds}`, 'content-type': 'text/plain' }
      if (url !== null) await cache.put(url, new Response(text, { headers }))
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
