// Types of the messages between the Worker of files and its benchmarks and tests.

import type { FilesBlock, FilesRequest } from '../../../src/archive/files/files-read.ts'
import type { FileSpan, MergedLevel } from '../../../src/archive/files/levels.ts'

/** Blocks to be archived. */
export interface SegmentOrder extends FileSpan {
  /** A line for each. */
  readonly events: readonly string[]
}

/** An object of a file, made of lines that are sent with it. */
export interface PartOrder {
  readonly level: MergedLevel
  readonly file: FileSpan
  readonly number: number
  readonly isLast: boolean
}

/** What was asked of D1 and R2. */
export interface Operations {
  /** To D1, and rows that it read and wrote for them. */
  readonly questions: number
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly gets: number
  readonly bytesRead: number
  readonly puts: number
  /** Of pages. */
  readonly pageBytes: number
}

/** `level`: of what was written; null: nothing was. */
export interface Turn extends Operations {
  readonly isMore: boolean
  readonly level: string | null
}

export type PageOrder = Pick<FilesRequest, 'kind' | 'scope' | 'order' | 'limit'>

export interface PageRead extends Operations {
  readonly blocks: readonly FilesBlock[]
}
