// Writes lines into pages and builds an index of the pages. The lines must be sorted by key. Invariant: the same lines
// produce the same bytes, however they were paged before.

import { encodePage, mergeSpans, type PageHead, type PageSpan } from './page.ts'
import { headOf } from './rows.ts'

/** Maximum length of a page in characters, which is about 180 fills, or 12 KB after gzip. */
const PAGE_CHARS = 64 * 1024
/** Maximum bytes that one index entry covers. They contain about 2,000 fills and are read at once. */
const ENTRY_BYTES = 128 * 1024

/** Short pages are concatenated into chunks of this size. 60,000 separate arrays would need twice the memory. */
const CHUNK_BYTES = 1024 * 1024

/** An index entry, which locates the pages of a key. */
export interface IndexEntry extends PageHead {
  readonly offset: number
  readonly bytes: number
}

export type Pack = (text: string) => Promise<Uint8Array>

export class PageWriter {
  readonly #pack: Pack
  readonly #chunks: Uint8Array[] = []
  #pages: Uint8Array[] = []
  #chunkedBytes = 0
  readonly #entries: IndexEntry[] = []
  #bytes = 0
  #key = ''
  #lines: string[] = []
  #chars = 0
  #span: PageSpan | null = null

  constructor(pack: Pack) {
    this.#pack = pack
  }

  get bytes(): number {
    return this.#bytes
  }

  get pages(): readonly Uint8Array[] {
    return [...this.#chunks, ...this.#pages]
  }

  get entries(): readonly IndexEntry[] {
    return this.#entries
  }

  /** Keys must be in sorted order, and the lines of a key in height order. */
  async add(key: string, line: string): Promise<void> {
    if (key !== this.#key) await this.flush()
    const { height, time, rows } = headOf(line)
    if (key < this.#key || height <= (this.#span?.last ?? -1))
      throw new Error(`a line of ${key} at ${height} came after ${this.#key} at ${this.#span?.last}`)
    this.#key = key
    const reach = { rows, first: height, last: height, minMs: time, maxMs: time }
    this.#span = this.#span ? mergeSpans(this.#span, reach) : reach
    this.#lines.push(line)
    this.#chars += line.length
    if (this.#chars >= PAGE_CHARS) await this.flush()
  }

  async flush(): Promise<void> {
    const reach = this.#span
    if (!reach) return
    const head = { key: this.#key, ...reach }
    const page = encodePage(head, await this.#pack(this.#lines.join('\n')))
    this.#addToIndex({ ...head, offset: this.#bytes, bytes: page.length })
    this.#pages.push(page)
    this.#bytes += page.length
    if (this.#bytes - this.#chunkedBytes >= CHUNK_BYTES) {
      this.#chunks.push(concatPages(this.#pages, this.#bytes - this.#chunkedBytes))
      this.#pages = []
      this.#chunkedBytes = this.#bytes
    }
    this.#lines = []
    this.#chars = 0
    this.#span = null
  }

  #addToIndex(page: IndexEntry): void {
    const last = this.#entries.at(-1)
    if (last?.key !== page.key || last.bytes >= ENTRY_BYTES) this.#entries.push(page)
    else this.#entries.splice(-1, 1, { ...last, ...mergeSpans(last, page), bytes: last.bytes + page.bytes })
  }
}

/** `bytes`: total length of the pages. */
export function concatPages(pages: readonly Uint8Array[], bytes: number): Uint8Array {
  const all = new Uint8Array(bytes)
  let at = 0
  for (const page of pages) {
    all.set(page, at)
    at += page.length
  }
  return all
}
