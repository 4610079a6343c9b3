// What readers of the files see of them: rows of a user, a builder or a coin, block by block. Types alone.

import type { Block } from '../../feed/block.ts'
import type { EventBlock, FillScope, HeightAndTime } from '../../feed/held-fills.ts'

/** Heights whose events are in the files, without those of `gaps`. */
export interface FilesCover {
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  readonly gaps: readonly { readonly from: number; readonly to: number }[]
}

export interface FilesRequest {
  /** `fills` of a user, a builder or a coin; `ledger` of a user. */
  readonly kind: 'fills' | 'ledger'
  readonly scope: FillScope
  /** Block times, Unix ms, both inclusive. */
  readonly fromMs: number
  readonly toMs: number
  /** Rows of blocks at or below this height alone: what the log holds comes from the log. */
  readonly upTo: number
  readonly order: 'newest' | 'oldest'
  /** Blocks are given whole: reading ends after the block that reaches so many rows. */
  readonly limit: number
}

/** Of `fills` the ledger is empty, and of `ledger` the fills; funding is in no file. */
export type FilesBlock = EventBlock & Pick<Block, 'ledger'>

export interface FilesRows {
  /** In the order asked for; each block's rows in the order of the block. */
  readonly blocks: readonly FilesBlock[]
  /** True where nothing more of the range is in the files. */
  readonly isEnd: boolean
}

export interface FilesReader {
  cover(): Promise<FilesCover | null>
  rows(request: FilesRequest): Promise<FilesRows>
}
