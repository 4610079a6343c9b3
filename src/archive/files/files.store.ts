// Reads files: D1 locates the rows of a key, and R2 stores them. Invariants: each block is returned whole and only
// once; a missing, truncated or altered object causes an ArchiveDamage error.

import type { Coin } from '../../core/coin.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import type { CandlesRequest, FileCandles } from '../candles.ts'
import type { FundingSpan, SpanFunding } from '../funding-spans.ts'
import type { PositionFold } from '../positions.ts'
import { readCandles } from './candle-files.store.ts'
import { candleKey } from './candle-lines.ts'
import { coverageOf } from './coverage.store.ts'
import type { CandleFiles, CoverageNeed, FileCoverage, FilesBlock, FilesRequest, FilesRows } from './files-read.ts'
import { fundingOver } from './funding.store.ts'
import { continueAfter, linesOfPage, PARALLEL_READS, pagesOfRange, type StoredPage } from './key-lines.store.ts'
import { type PageRange, pageRanges, type RowsQuery } from './listing.store.ts'
import type { RangeCache, RangeStorage } from './object-range.store.ts'
import { positionsAt } from './positions.store.ts'
import { blockOf, headOf, keyOf } from './rows.ts'

/** Maximum bytes of pages that one call reads for positions. Without a recent snapshot, a coin may need more. */
const MAX_POSITION_BYTES = 48 * 1024 * 1024

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
        const read = some.map((stretch) => pagesOfRange(this.#storage, query.key, stretch))
        for (const pages of await Promise.all(read)) {
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

  positions(coin: Coin, upTo: number): Promise<PositionFold | null> {
    return positionsAt(this.#storage, coin, upTo, MAX_POSITION_BYTES)
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
async function linesOf(pages: readonly StoredPage[], query: RowsQuery, limit: number): Promise<string[]> {
  const { order, from, upTo, fromMs, toMs } = query
  const lines: string[] = []
  let rows = 0
  const wholly = (height: number, time: number) => height >= from && height <= upTo && time >= fromMs && time <= toMs
  for (const page of order === 'newest' ? pages.toReversed() : pages) {
    if (rows >= limit) break
    if (page.first > upTo || page.last < from || page.maxMs < fromMs || page.minMs > toMs) continue
    const texts = await linesOfPage(page)
    for (const text of order === 'newest' ? texts.reverse() : texts) {
      const { height, time, rows: count } = headOf(text)
      if (!wholly(height, time)) continue
      lines.push(text)
      rows += count
    }
  }
  return lines
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
