// Parses a `Range` header for an object. Only a single range is supported. Any other header is refused, because the
// alternative would be to return a whole large object.

type ByteRange = { readonly offset: number; readonly length: number }

const ONE = /^bytes=(\d{0,15})-(\d{0,15})$/

/** Null: the whole object is requested; `refused`: the header contains no valid range. */
export function byteRange(header: string | null, size: number): ByteRange | null | 'refused' {
  if (header === null) return null
  const [, from, to] = ONE.exec(header.trim()) ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'refused'
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? 'refused' : { offset: size - length, length }
  }
  const offset = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (offset >= size || (to !== '' && Number(to) < offset)) return 'refused'
  return { offset, length: last - offset + 1 }
}

/** Value of a `Content-Range` header. */
export function contentRange({ offset, length }: ByteRange, size: number): string {
  return `bytes ${offset}-${offset + length - 1}/${size}`
}
