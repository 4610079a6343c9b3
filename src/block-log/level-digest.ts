// A number that represents the levels of a book and is updated level by level. Equal books have equal digests. Books
// that differ by accident have different digests, because a digest has 52 bits. Invariant: a book's digest is the sum
// of its levels' hashes modulo 2^52, in any order.

/** Digest of a book that has no levels. */
export const EMPTY_DIGEST = 0
const MODULUS = 2 ** 52
const LOW = 2 ** 32

/** Returns the digest after a level is added. The price and size are strings as sent; `n` is the number of orders. */
export function withLevel(digest: number, side: 0 | 1, px: string, sz: string, n: number): number {
  return (digest + levelHash(side, px, sz, n)) % MODULUS
}

/** Returns the digest after a level is removed. */
export function withoutLevel(digest: number, side: 0 | 1, px: string, sz: string, n: number): number {
  return (digest - levelHash(side, px, sz, n) + MODULUS) % MODULUS
}

function levelHash(side: 0 | 1, px: string, sz: string, n: number): number {
  let low = side + 1
  let high = n
  for (const text of [px, sz]) {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      low = Math.imul(low ^ unit, 0x01000193)
      high = Math.imul(high ^ unit, 0x9e3779b1)
    }
    low = mix(low, n)
    high = mix(high, low)
  }
  return (high >>> 12) * LOW + (low >>> 0)
}

/** Mixes the next word into the hash, with the finalizer of MurmurHash3. */
function mix(hash: number, word: number): number {
  let h = Math.imul(hash ^ word, 0x9e3779b1)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
