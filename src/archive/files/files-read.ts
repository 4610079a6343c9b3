// What readers of the files see of them: rows of a user or a builder, block by block. Types alone.

import type { Block } from '../../protocol/feed/block.ts'
import type { EventBlock, HeightAndTime, LedgerKind, OwnerScope } from '../../protocol/feed/durable-api.ts'
import type { CandlesRequest, FileCandles } from '../candles.ts'
import type { FundingSpan, SpanFunding } from '../funding-spans.ts'

/** Heights that no file has, or of which the fills alone are `known`. */
export interface FileGap {
  readonly from: number
  readonly to: number
  readonly known?: 'fills' | null
}

/** Heights whose events are in the files, without those of `gaps`. */
export interface FileCoverage {
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  readonly gaps: readonly FileGap[]
  /** Where funding is known, in order; two of them that touch are told apart all the same. */
  readonly funded: readonly FundedRange[]
  /** Where is known what each wallet paid and got as funding, in order; left out where nobody asked. */
  readonly paid?: readonly FundedRange[]
}

/** Heights whose funding is known, so that spans within it can be asked for. */
export interface FundedRange {
  readonly from: number
  readonly fromMs: number
  readonly to: number
}

/** What must be known of a height that stands in no gap. */
export type CoverageNeed = 'fills' | 'events' | 'payments'

export interface FilesRequest {
  /** `fills` of a user or a builder; the others of a user. */
  readonly kind: 'fills' | LedgerKind
  readonly scope: OwnerScope
  readonly fromMs: number
  readonly toMs: number
  /** Of blocks at or above this height; of all where it is left out. */
  readonly from?: number
  /** Rows of blocks at or below this height alone: what the log holds comes from the log. */
  readonly upTo: number
  readonly order: 'newest' | 'oldest'
  /** Blocks are given whole: reading ends after the block that reaches so many rows. */
  readonly limit: number
}

/** Of `fills` the ledger is empty, and of all others the fills; funding is asked for by itself. */
export type FilesBlock = EventBlock & Pick<Block, 'ledger'>

export interface FilesRows {
  /** In the order asked for; each block's rows in the order of the block. */
  readonly blocks: readonly FilesBlock[]
  /** True where nothing more of the range is in the files. */
  readonly isEnd: boolean
}

export interface FilesReader {
  coverage(need: CoverageNeed): Promise<FileCoverage | null>
  rows(request: FilesRequest): Promise<FilesRows>
  /** What was paid in each span, each within a funded stretch; of those in which nothing was, none. */
  funding(spans: readonly FundingSpan[]): Promise<readonly SpanFunding[]>
}

export interface CandleFiles extends FilesReader {
  /** Null: there are no files yet. Left out by files that have no candles. */
  candles?(request: CandlesRequest): Promise<FileCandles | null>
}
