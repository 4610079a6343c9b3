// What readers of the files see of them: which heights there are, and rows of one wallet, builder or coin. Types alone.
// Where an object is missing or another one, reading throws ArchiveDamage.

import type { EventBlock, FillScope, HeightAndTime } from '../../feed/held-fills.ts'

/** Heights whose events are in the files, without those of `gaps`. */
export interface FilesCover {
  readonly from: HeightAndTime
  readonly to: HeightAndTime
  readonly gaps: readonly { readonly from: number; readonly to: number }[]
}

export interface FilesRequest {
  /** 'fills' of a wallet, a builder or a coin; 'ledger' of a wallet. */
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

export interface FilesRows {
  /** In the order asked for; each block's rows in the order of the block. Files hold no funding. */
  readonly blocks: readonly EventBlock[]
  /** True where nothing more of the range is in the files. */
  readonly isEnd: boolean
}

export interface FilesReader {
  /** Null where no file has been written yet. */
  cover(): Promise<FilesCover | null>
  rows(request: FilesRequest): Promise<FilesRows>
}
