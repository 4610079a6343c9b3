// The digest by which two parties compare a whole book without sending it: the sum, modulo 2^32, of one hash a level, so
// that it follows a change in constant time and in any order. It finds accidents, not attacks.

import type { Level } from './block.ts'

const FNV_PRIME = 0x01000193
const SEEDS = [0x811c9dc5, 0x9dc5811c] as const

/** Hash of one level of a side (0 bids, 1 asks), of its texts as they travel; 32 bits, signed. */
export function levelDigest(side: 0 | 1, { px, sz, n }: Level): number {
  let hash: number = SEEDS[side]
  for (let i = 0; i < px.length; i++) hash = Math.imul(hash ^ px.charCodeAt(i), FNV_PRIME)
  hash = Math.imul(hash ^ 0x7c, FNV_PRIME)
  for (let i = 0; i < sz.length; i++) hash = Math.imul(hash ^ sz.charCodeAt(i), FNV_PRIME)
  hash = Math.imul(hash ^ n, FNV_PRIME)
  // Neighbouring texts must not give neighbouring hashes: those of a sum would cancel out.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) | 0
}
