// A `Range` header against the size of an object. One range of bytes is answered; whatever is none, or lies outside, is
// refused rather than answered with all of a large object.

type ByteRange = { readonly offset: number; readonly length: number }

const ONE = /^bytes=(\d{0,15})-(\d{0,15})$/

/** Null: all of it; `refused`: no byte of the object. */
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

/** The header of an answer with a part of an object of this size. */
export function contentRange({ offset, length }: ByteRange, size: number): string {
  return `bytes ${offset}-${offset + length - 1}/${size}`
}
