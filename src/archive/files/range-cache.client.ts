// Caches byte ranges of files in the data center, because a page of history takes up to 60 reads of R2, each of which may
// cross a continent. Entries never become outdated: an object with another ETag has other entries. Invariant: a failure
// of the cache counts as a miss.

import type { WaitUntil } from '../../core/wait-until.ts'
import type { ObjectRange, RangeCache } from './object-range.store.ts'

/** The gateway serves nothing at this path, so only the Worker can read these cache entries. */
const CACHE_PATH = '/.weir/ranges/1/'
/** Removed files are no longer listed, so nobody asks for their entries. */
const MAX_AGE_SECONDS = 86_400
/** An index entry covers 128 KiB and at most one more page. */
const MAX_BYTES = 512 * 1024

/** `origin`: the gateway's own, as the platform requires for its cache keys; nothing is cached while it is null. */
export function rangeCache(
  cache: Pick<Cache, 'match' | 'put'>,
  origin: () => string | null,
  waitUntil: WaitUntil,
): RangeCache {
  const urlOf = ({ key, etag, offset, length }: ObjectRange) => {
    const own = origin()
    if (own === null || length > MAX_BYTES) return null
    return `${own}${CACHE_PATH}${encodeURIComponent(etag)}/${offset}-${length}/${encodeURIComponent(key)}`
  }
  const read = async (url: string, length: number) => {
    const response = await cache.match(url)
    const bytes = response ? new Uint8Array(await response.arrayBuffer()) : null
    return bytes?.length === length ? bytes : null
  }
  return {
    async get(range) {
      const url = urlOf(range)
      return url === null ? null : read(url, range.length).catch(() => null)
    },
    put(range, bytes) {
      const url = urlOf(range)
      const headers = { 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` }
      if (url !== null) waitUntil(cache.put(url, new Response(bytes, { headers })).catch(() => undefined))
    },
  }
}
