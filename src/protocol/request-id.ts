// Id that identifies a reply in logs. It is always generated here, because a caller's id could carry a key into the
// logs.

import { randomBase58 } from '../core/base58.ts'

export const REQUEST_ID_HEADER = 'x-request-id'

const ID_LENGTH = 16
/**
 * One call to the platform's generator provides random bytes for hundreds of ids. A call per request would cost more
 * than the rest of the id.
 */
const POOL_BYTES = 8192

/** `req_` and 16 base58 characters. */
export function newRequestId(random: (bytes: number) => Uint8Array): string {
  return `req_${randomBase58(ID_LENGTH, random)}`
}

/** Returns random bytes from a pool. Each byte is returned once. Use it for ids, never for keys. */
export function pooled(random: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let pool = new Uint8Array()
  let at = 0
  return (bytes) => {
    if (at + bytes > pool.length) {
      pool = new Uint8Array(random(Math.max(POOL_BYTES, bytes)))
      at = 0
    }
    at += bytes
    return pool.subarray(at - bytes, at)
  }
}
