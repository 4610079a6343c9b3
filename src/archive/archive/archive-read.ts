// Read interface of the archive: segments of lines, checkpoints of books, and the error for damaged objects.

import type { Coin } from '../../core/coin.ts'
import type { Levels } from '../../protocol/feed/block.ts'

/** A range of consecutive heights. `epoch`: epoch of the books; null if it is unknown. */
export interface ArchivedSegment {
  readonly chain: string
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
  readonly epoch: string | null
  /** Time of the block after the last one, if that block was known when the segment was written. */
  readonly nextMs?: number | null
  /** Known parts of a segment that the log did not write. */
  readonly backfilled?: string | null
}

/** Heights that are written to files if no file has them. The archive may have the heights from `next` to `to`. */
export interface UnfiledRange {
  readonly from: number
  readonly to: number
  readonly next: number
}

export interface ArchivedCheckpoint {
  readonly epoch: string
  /** The lowest height among its books. */
  readonly height: number
  readonly time: number
}

/** A coin's book as of block `height`. */
export interface ArchivedBook {
  readonly coin: Coin
  readonly height: number
  readonly seq: number
  readonly levels: Levels
}

export interface ArchiveReader {
  /** Returns at most `limit` segments in height order. The first one contains or follows the given height or time. */
  segmentsFrom(
    at: { readonly height: number } | { readonly timeMs: number },
    limit: number,
  ): Promise<readonly ArchivedSegment[]>
  /** The last archived block; null if there is none. */
  last(): Promise<number | null>
  /** Streams lines in order. If the object does not match its row, throws ArchiveDamage before the first line. */
  lines(segment: ArchivedSegment, kind: 'events' | 'books'): AsyncIterable<string>
  /** The last checkpoint at or below `height`. */
  checkpointAt(height: number): Promise<ArchivedCheckpoint | null>
  /** The first checkpoint above `height`. */
  checkpointAfter(height: number): Promise<ArchivedCheckpoint | null>
  /** Streams the books of a checkpoint, either for these coins or, if null, for all. */
  books(height: number, coins: ReadonlySet<string> | null): AsyncIterable<ArchivedBook>
  gaps(from: number, to: number): Promise<readonly { readonly from: number; readonly to: number }[]>
}

/** Heights of a gap that are archived now. `id`: number of the repair, in the order of repairs. */
export interface RepairedHeights {
  readonly id: number
  readonly from: number
  readonly to: number
}

/** The first repair with those that continue it, because a long gap is repaired in parts. Its number is the last one's. */
export function joinRepairs(repairs: readonly RepairedHeights[]): RepairedHeights | null {
  const [first, ...rest] = repairs
  if (first === undefined) return null
  let joined = first
  for (const { id, from, to } of rest) {
    if (from !== joined.to + 1) break
    joined = { id, from: first.from, to }
  }
  return joined
}

export interface RepairLog {
  /**
   * The first repair after `id` together with those that continue it, or the newest repair if `id` is null; null if
   * there is none.
   */
  repairAfter(id: number | null): Promise<RepairedHeights | null>
  /** Whether a repair after `id` added this segment. */
  isRepairedAfter(id: number, segment: ArchivedSegment): Promise<boolean>
}

/** An archived object that does not match its row. Invariant: no data of such an object is used. */
export class ArchiveDamage extends Error {
  readonly key: string

  constructor(key: string, what: 'missing' | 'truncated' | 'altered' | 'removed') {
    super(`${key} is ${what}`)
    this.name = 'ArchiveDamage'
    this.key = key
  }
}

/** Reports a failure to decode what an object has as damage of the object. */
export async function orDamage<T>(key: string, decode: () => T | Promise<T>): Promise<T> {
  try {
    return await decode()
  } catch {
    throw new ArchiveDamage(key, 'altered')
  }
}
