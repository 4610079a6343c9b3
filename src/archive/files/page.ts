// Binary format of a page: two lengths, a head with the key and block range, and gzipped lines. An object consists only
// of pages, so it can be read from any page and without the database.

/** Range of blocks, inclusive. Block times may decrease. */
export interface PageSpan {
  readonly rows: number
  readonly first: number
  readonly last: number
  readonly minMs: number
  readonly maxMs: number
}

export interface PageHead extends PageSpan {
  readonly key: string
}

export interface Page extends PageHead {
  readonly bytes: number
  readonly body: Uint8Array<ArrayBuffer>
}

/** Bytes that store the length of the page and the length of its head. */
const LENGTHS = 8

export function encodePage({ key, rows, first, last, minMs, maxMs }: PageHead, body: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(JSON.stringify([key, rows, first, last, minMs, maxMs]))
  const page = new Uint8Array(LENGTHS + head.length + body.length)
  const view = new DataView(page.buffer)
  view.setUint32(0, page.length)
  view.setUint32(LENGTHS / 2, head.length)
  page.set(head, LENGTHS)
  page.set(body, LENGTHS + head.length)
  return page
}

/** Length of the page that starts at offset `at`; null if too few bytes are available. */
export function pageBytes(bytes: Uint8Array, at: number): number | null {
  if (at + LENGTHS > bytes.length) return null
  return new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0)
}

/** Decodes the complete page that starts at offset `at`. */
export function decodePage(bytes: Uint8Array<ArrayBuffer>, at: number): Page {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at)
  const length = view.getUint32(0)
  const headLength = view.getUint32(LENGTHS / 2)
  const bodyAt = at + LENGTHS + headLength
  const head = new TextDecoder().decode(bytes.subarray(at + LENGTHS, bodyAt))
  const [key, rows, first, last, minMs, maxMs] = JSON.parse(head) as [string, number, number, number, number, number]
  return { key, rows, first, last, minMs, maxMs, bytes: length, body: bytes.subarray(bodyAt, at + length) }
}

/** All pages in a byte range; null if the range does not end at a page boundary. */
export function decodePages(bytes: Uint8Array<ArrayBuffer>): Page[] | null {
  const pages: Page[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = pageBytes(bytes, at)
    if (length === null || length <= LENGTHS || at + length > bytes.length) return null
    pages.push(decodePage(bytes, at))
    at += length
  }
  return pages
}

/** Merges the spans of consecutive pages. */
export function mergeSpans(a: PageSpan, b: PageSpan): PageSpan {
  return {
    rows: a.rows + b.rows,
    first: a.first,
    last: b.last,
    minMs: Math.min(a.minMs, b.minMs),
    maxMs: Math.max(a.maxMs, b.maxMs),
  }
}
