// Read interface of the files: rows of a user or builder, block by block. Types only.

import type { Block } from '../../protocol/feed/block.ts'
import type { EventBlock, HeightAndTime, LedgerKind, OwnerScope } from '../../protocol/feed/durable-api.ts'
import type { CandlesRequest, FileCandles } from '../candles.ts'
import type { FundingSpan, SpanFunding } from '../funding-spans.ts'

/** Heights that no file has, or of which only the fills are `known`. */
export interface FileGap {
  readonly from: number
  readonly to: number
  readonly known?: 'fills' | null
}

/** Heights whose events are in files, except `gaps`. */
export interface FileCoverage {
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  readonly gaps: readonly FileGap[]
  /** Ranges with known funding, in order; touching ranges stay separate. */
  readonly funded: readonly FundedRange[]
  /** Ranges with known funding payments per wallet, in order; omitted if not requested. */
  readonly paid?: readonly FundedRange[]
}

/** Heights with known funding. */
export interface FundedRange {
  readonly from: number
  readonly fromMs: number
  readonly to: number
}

/** Data that must be known of a height outside gaps. */
export type CoverageNeed = 'fills' | 'events' | 'payments'

export interface FilesRequest {
  /** `fills` of a user or builder; other kinds only of a user. */
  readonly kind: 'fills' | LedgerKind
  readonly scope: OwnerScope
  readonly fromMs: number
  readonly toMs: number
  /** Lowest height; all heights by default. */
  readonly from?: number
  /** Highest height. Newer blocks come from the log. */
  readonly upTo: number
  readonly order: 'newest' | 'oldest'
  /** Blocks are returned whole: reading stops after the block that reaches this many rows. */
  readonly limit: number
}

/** `fills` requests have an empty ledger and all others have empty fills; funding is requested separately. */
export type FilesBlock = EventBlock & Pick<Block, 'ledger'>

export interface FilesRows {
  /** In the requested order; rows of a block in block order. */
  readonly blocks: readonly FilesBlock[]
  /** True if the files contain nothing more of the range. */
  readonly isEnd: boolean
}

export interface FilesReader {
  coverage(need: CoverageNeed): Promise<FileCoverage | null>
  rows(request: FilesRequest): Promise<FilesRows>
  /** Funding paid per span, each within a funded range; spans without payments are omitted. */
  funding(spans: readonly FundingSpan[]): Promise<readonly SpanFunding[]>
}

export interface CandleFiles extends FilesReader {
  /** Null if there are no files yet. Omitted by files without candles. */
  candles?(request: CandlesRequest): Promise<FileCandles | null>
}
