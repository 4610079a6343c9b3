// Reads the pages of a key. Invariant: a missing, truncated or altered object causes an ArchiveDamage error.

import { ArchiveDamage, orDamage } from '../archive/archive-read.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import { type PageRange, pageRanges, type RowsQuery } from './listing.store.ts'
import { bytesRange, type RangeStorage } from './object-range.store.ts'
import { decodePages, type Page } from './page.ts'
import { unpackPage } from './page-text.client.ts'
import { headOf } from './rows.ts'

/** Maximum parallel reads: a Worker has six connections. */
export const PARALLEL_READS = 6

/** A page, and the key of its object. */
export interface StoredPage extends Page {
  readonly objectKey: string
}

/** The pages of one key in a range of an object. */
export async function pagesOfRange(
  storage: RangeStorage,
  key: string,
  { object, offset, bytes: length }: Pick<PageRange, 'object' | 'offset' | 'bytes'>,
): Promise<StoredPage[]> {
  const bytes = await bytesRange(storage, { ...object, offset, length })
  const pages = await orDamage(object.key, () => decodePages(bytes))
  if (!pages?.every((page) => page.key === key)) throw new ArchiveDamage(object.key, 'altered')
  return pages.map((page) => ({ ...page, objectKey: object.key }))
}

export function linesOfPage({ body, objectKey }: StoredPage): Promise<string[]> {
  return orDamage(objectKey, async () => (await unpackPage(body)).split('\n'))
}

/** The query that continues after a page range. */
export function continueAfter(query: RowsQuery, { first, last }: PageRange): RowsQuery {
  return query.order === 'newest' ? { ...query, upTo: first - 1 } : { ...query, from: last + 1 }
}

type HeightsOfKey = Pick<RowsQuery, 'key' | 'from' | 'upTo'>

/** Passes the lines of a key to `take`, in height order. `onBytes` learns how many bytes will be read, and may throw. */
export async function readLines(
  storage: ArchiveStorage & RangeStorage,
  range: HeightsOfKey,
  take: (line: string) => void,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { key, from, upTo } = range
  let query: RowsQuery = { ...range, order: 'oldest', fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }
  for (;;) {
    const { stretches, isAll } = await pageRanges(storage, query)
    onBytes(stretches.reduce((sum, { bytes }) => sum + bytes, 0))
    for (let at = 0; at < stretches.length; at += PARALLEL_READS) {
      const some = stretches.slice(at, at + PARALLEL_READS).map((stretch) => pagesOfRange(storage, key, stretch))
      for (const page of (await Promise.all(some)).flat())
        for (const line of await linesOfPage(page)) {
          const { height } = headOf(line)
          if (height >= from && height <= upTo) take(line)
        }
    }
    const last = stretches.at(-1)
    if (isAll || !last) return
    query = continueAfter(query, last)
  }
}
