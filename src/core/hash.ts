// A stable hash of short strings, for sharding. It must not be used for secrets.

/**
 * A 32-bit hash, identical in every release. It is FNV-1a over UTF-16 units, followed by the finalizer of MurmurHash3,
 * which mixes the low bits.
 */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
