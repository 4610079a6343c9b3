/** Approximate size of a value in bytes when it is serialized: a lower bound for text outside of ASCII. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value === 'number' || typeof value === 'bigint') return 8
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength
  let size = 2
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item)
  else if (value instanceof Map) for (const [key, item] of value) size += sizeOf(key) + sizeOf(item)
  else if (value instanceof Set) for (const item of value) size += sizeOf(item)
  // Streams, responses and stubs are passed by reference.
  else if ([Object.prototype, null].includes(Object.getPrototypeOf(value)))
    for (const [key, item] of Object.entries(value)) size += key.length + sizeOf(item)
  return size
}
