// Types for the exports of a chain's history.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { FileCoverage } from '../files/files-read.ts'
import type { FileLink } from './file-links.ts'
import type { FileSource, TimeRange } from './file-list.ts'

/** Data of one UTC day or hour. A segment belongs to the period of its first block. */
export interface CoveredPeriod {
  readonly startMs: number
  readonly segments: number
  readonly blocks: number
  readonly first: number
  readonly last: number
  readonly eventsBytes: number
  readonly booksBytes: number
  readonly checkpoints: number
  readonly checkpointsBytes: number
}

/** Missing heights, and the times of the blocks around them. `beyondMs`: when no source was left that could have them. */
export interface HistoryGap {
  readonly from: number
  readonly to: number
  readonly afterMs: number
  readonly beforeMs: number
  readonly beyondMs: number | null
}

/** Heights that were missing until they came from a different source. */
export interface HistoryRepair {
  readonly from: number
  readonly to: number
  readonly known: 'fills' | 'events'
  /** Whether the changes of the books came with them. */
  readonly hasBooks: boolean
  readonly source: string
  readonly atMs: number
  /** Time of the first block of the segment with the first of these heights; null if it is not archived. */
  readonly nearMs: number | null
}

export interface Exports {
  readonly sources: readonly FileSource[]
  /** The first and the last block; null if there are none. */
  ends(): Promise<{ readonly from: HeightAndTime; readonly to: HeightAndTime } | null>
  /** Coverage of the files, including missing and partial heights; null if there are no files. */
  files(): Promise<FileCoverage | null>
  periods(range: TimeRange, length: 'day' | 'hour'): Promise<readonly CoveredPeriod[]>
  /**
   * At most `limit` gaps that start above height `after`, in height order; null: from the first one. A gap may be repaired
   * between two pages, so `after` need not be a gap.
   */
  gaps(after: number | null, limit: number): Promise<readonly HistoryGap[]>
  /** The last `limit` repairs, newest first. */
  repairs(limit: number): Promise<readonly HistoryRepair[]>
  /** Returns a signed path. Null if no signing secret is configured. */
  readonly sign: ((file: FileLink) => Promise<string>) | null
}
