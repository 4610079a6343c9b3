// What a gateway can tell of a chain's history as a whole, and hand out of it. Types alone.

import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { FileCoverage } from '../files/files-read.ts'
import type { FileLink } from './file-links.ts'
import type { FileSource, TimeRange } from './file-list.ts'

/** What of a UTC day there is, by the first blocks of segments. */
export interface CoveredDay {
  readonly dayMs: number
  readonly segments: number
  readonly blocks: number
  readonly first: number
  readonly last: number
  readonly eventsBytes: number
  readonly booksBytes: number
  readonly checkpoints: number
  readonly checkpointsBytes: number
}

/** Heights that never came, between blocks of these times. */
export interface HistoryGap {
  readonly from: number
  readonly to: number
  readonly afterMs: number
  readonly beforeMs: number
}

export interface Exports {
  readonly sources: readonly FileSource[]
  /** The first and the last block; null where there is none. */
  ends(): Promise<{ readonly from: HeightAndTime; readonly to: HeightAndTime } | null>
  /** What of it is in files, and which heights between are not, or not wholly; null: there are none yet. */
  files(): Promise<FileCoverage | null>
  days(range: TimeRange): Promise<readonly CoveredDay[]>
  /** In order, behind the gap that begins with the height `after`; null where no gap begins there. */
  gaps(after: number | null, limit: number): Promise<readonly HistoryGap[] | null>
  /** Answers the path of a link; null where there is no secret to sign with. */
  readonly sign: ((file: FileLink) => Promise<string>) | null
}
