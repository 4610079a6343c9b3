// Reads files: D1 locates the rows of a key, and R2 stores them. Invariants: each block is returned whole and only
// once; a missing, truncated or altered object causes an ArchiveDamage error.

import type { Coin } from '../../core/coin.ts'
import { ArchiveDamage } from '../archive/archive-read.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import type { CandlesRequest, FileCandles } from '../candles.ts'
import type { FundingSpan, SpanFunding } from '../funding-spans.ts'
import { readCandles } from './candle-files.store.ts'
import { candleKey } from './candle-lines.ts'
import { coverageOf } from './coverage.store.ts'
import type { CandleFiles, CoverageNeed, FileCoverage, FilesBlock, FilesRequest, FilesRows } from './files-read.ts'
import { fundingOver } from './funding.store.ts'
import { type PageRange, pageRanges, type RowsQuery } from './listing.store.ts'
import { bytesRange, type RangeCache, type RangeStorage } from './object-range.store.ts'
import { decodePages, type Page } from './page.ts'
import { unpackPage } from './page-text.client.ts'
import { blockOf, headOf, keyOf } from './rows.ts'

/** Maximum parallel reads: a Worker has six connections. */
const PARALLEL_READS = 6

export class StoredFiles implements CandleFiles {
  readonly #storage: ArchiveStorage & RangeStorage

  constructor(storage: ArchiveStorage & RangeStorage) {
    this.#storage = storage
  }

  coverage(need: CoverageNeed): Promise<FileCoverage | null> {
    return coverageOf(this.#storage, need)
  }

  async hasTrades(coin: Coin): Promise<boolean> {
    const all = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, from: 0, upTo: Number.MAX_SAFE_INTEGER }
    const { stretches } = await pageRanges(this.#storage, { key: candleKey(coin), order: 'newest', ...all })
    return stretches.length > 0
  }

  async funding(spans: readonly FundingSpan[]): Promise<readonly SpanFunding[]> {
    return fundingOver(this.#storage, spans)
  }

  async rows(request: FilesRequest): Promise<FilesRows> {
    const { order, fromMs, toMs, kind, limit, from = 0 } = request
    const blocks: FilesBlock[] = []
    let rows = 0
    let query: RowsQuery = { key: keyOf(request), order, fromMs, toMs, from, upTo: request.upTo }
    for (;;) {
      const { stretches, isAll } = await pageRanges(this.#storage, query)
      for (let at = 0; at < stretches.length; ) {
        const some = stretches.slice(at, at + rangesNeeded(stretches.slice(at, at + PARALLEL_READS), limit - rows))
        for (const pages of await this.#pagesOf(some, query)) {
          for (const line of await linesOf(pages, query, limit - rows)) {
            if (rows >= limit) return { blocks, isEnd: false }
            const block = blockOf(line, kind, request.scope.address)
            blocks.push(block)
            rows += headOf(line).rows
          }
          if (rows >= limit) return { blocks, isEnd: false }
        }
        at += some.length
      }
      const last = stretches.at(-1)
      if (isAll || !last) return { blocks, isEnd: true }
      query = continueAfter(query, last)
    }
  }

  async candles(request: CandlesRequest): Promise<FileCandles | null> {
    return readCandles(this.#storage, request)
  }

  async #pagesOf(stretches: readonly PageRange[], { key }: RowsQuery): Promise<Page[][]> {
    return Promise.all(
      stretches.map(async ({ object, offset, bytes: length }) => {
        const pages = decodePages(await bytesRange(this.#storage, { ...object, offset, length }))
        if (!pages?.every((page) => page.key === key)) throw new ArchiveDamage(object.key, 'altered')
        return pages
      }),
    )
  }
}

/** Number of page ranges to read until they contain the wanted rows. */
function rangesNeeded(stretches: readonly PageRange[], wantedRows: number): number {
  let rows = 0
  const end = stretches.findIndex((stretch) => {
    rows += stretch.rows
    return rows >= wantedRows
  })
  return end < 0 ? stretches.length : end + 1
}

/** Matching lines in the requested order. Pages outside the requested range are skipped. */
async function linesOf(pages: readonly Page[], query: RowsQuery, limit: number): Promise<string[]> {
  const { order, from, upTo, fromMs, toMs } = query
  const lines: string[] = []
  let rows = 0
  const wholly = (height: number, time: number) => height >= from && height <= upTo && time >= fromMs && time <= toMs
  for (const page of order === 'newest' ? pages.toReversed() : pages) {
    if (rows >= limit) break
    if (page.first > upTo || page.last < from || page.maxMs < fromMs || page.minMs > toMs) continue
    const texts = (await unpackPage(page.body)).split('\n')
    for (const text of order === 'newest' ? texts.reverse() : texts) {
      const { height, time, rows: count } = headOf(text)
      if (!wholly(height, time)) continue
      lines.push(text)
      rows += count
    }
  }
  return lines
}

/** The query that continues after a page range. */
function continueAfter(query: RowsQuery, { first, last }: PageRange): RowsQuery {
  return query.order === 'newest' ? { ...query, upTo: first - 1 } : { ...query, from: last + 1 }
}

/** Null if the Worker has no archive. */
export function filesOf(
  env: Partial<Pick<Cloudflare.Env, 'ARCHIVE' | 'HISTORY'>>,
  chain: string,
  ranges?: RangeCache,
): StoredFiles | null {
  const { ARCHIVE: bucket, HISTORY: db } = env
  return bucket && db ? new StoredFiles({ chain, bucket, db, ...(ranges && { ranges }) }) : null
}
