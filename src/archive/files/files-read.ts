// Read interface of the files, which return rows of a user or builder block by block. This file contains only types.

import type { Coin } from '../../core/coin.ts'
import type { Block } from '../../protocol/feed/block.ts'
import type { EventBlock, HeightAndTime, LedgerKind, OwnerScope } from '../../protocol/feed/durable-api.ts'
import type { CandlesRequest, FileCandles } from '../candles.ts'
import type { FundingSpan, SpanFunding } from '../funding-spans.ts'
import type { PositionFold } from '../positions.ts'

/** Heights that no file has. If `known` is `fills`, files have the fills of these heights but nothing else. */
export interface FileGap {
  readonly from: number
  readonly to: number
  readonly known?: 'fills' | null
}

/** The heights from `from` to `to`. Files have their events, except in `gaps`. */
export interface FileCoverage {
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  readonly gaps: readonly FileGap[]
  /** Ranges whose funding is known, in height order. Adjacent ranges are not joined. */
  readonly funded: readonly FundedRange[]
  /** Ranges whose funding payments per wallet are known, in height order. Omitted if not requested. */
  readonly paid?: readonly FundedRange[]
}

/** A range of heights whose funding is known. */
export interface FundedRange {
  readonly from: number
  readonly fromMs: number
  readonly to: number
}

/** The kind of data that is required. A height without this data counts as a gap. */
export type CoverageNeed = 'fills' | 'events' | 'payments'

export interface FilesRequest {
  /** `fills` can be read for a user or a builder; other kinds only for a user. */
  readonly kind: 'fills' | LedgerKind
  readonly scope: OwnerScope
  readonly fromMs: number
  readonly toMs: number
  /** Lowest height to read. By default, reading starts at the lowest height that exists. */
  readonly from?: number
  /** Highest height to read. Newer blocks come from the log. */
  readonly upTo: number
  readonly order: 'newest' | 'oldest'
  /** Reading stops after the block that reaches this number of rows, because blocks are always returned whole. */
  readonly limit: number
}

/**
 * A block with only the requested kind of rows: `ledger` is empty if `fills` were requested, otherwise `fills` is
 * empty. Funding is requested separately.
 */
export type FilesBlock = EventBlock & Pick<Block, 'ledger'>

export interface FilesRows {
  /** Blocks in the requested order. The rows within a block are always in block order. */
  readonly blocks: readonly FilesBlock[]
  /** True if the files have no more blocks in the requested range. */
  readonly isEnd: boolean
}

export interface FilesReader {
  coverage(need: CoverageNeed): Promise<FileCoverage | null>
  rows(request: FilesRequest): Promise<FilesRows>
  /**
   * Returns the funding that was paid during each span. A span must be within adjacent funded ranges. Spans without
   * payments are omitted.
   */
  funding(spans: readonly FundingSpan[]): Promise<readonly SpanFunding[]>
}

export interface CandleFiles extends FilesReader {
  /** Returns null if there are no files yet. The method is absent if the files have no candles. */
  candles?(request: CandlesRequest): Promise<FileCandles | null>
  /**
   * Returns the last change of each wallet in a coin up to a height. Null if that takes too much work, until the next
   * snapshot is written. The method is absent if the files have no positions.
   */
  positions?(coin: Coin, upTo: number): Promise<PositionFold | null>
}
