// What of the archive goes to stay within a bound: the oldest first, whole segments, never the newest; and checkpoints that
// lead to no segment any more. Pure, so that what would go can be shown before it does.

export interface HeldSegment {
  readonly first: number
  readonly last: number
  readonly bytes: number
}

/** How many of the oldest segments go; `segments` are the oldest, in order, of all that have `bytes` together. */
export function overdueSegments(segments: readonly HeldSegment[], bytes: number, mostBytes: number): HeldSegment[] {
  let rest = bytes
  const due: HeldSegment[] = []
  for (const segment of segments) {
    if (rest <= mostBytes) break
    due.push(segment)
    rest -= segment.bytes
  }
  return due
}

/** True for a checkpoint that is of no use where `first` is the first height that is kept. */
export function isCheckpointOverdue(height: number, first: number): boolean {
  return height < first - 1
}
