// The feeder's status of the last second, as a line for people and as one for machines.

export interface Status {
  readonly height: number | null
  /** Wall clock minus block time of the last block; null before the first. */
  readonly lagMs: number | null
  readonly blocksPerSecond: number
  readonly unacked: number
  readonly reconnects: number
  /** Diffs that did not fit our books, such as of unknown orders. */
  readonly misfits: number
  readonly drifted: number
  readonly gaps: number
  readonly refusedEvents: number
  readonly booksKnown: boolean
  /** What it is doing, in a few words. */
  readonly state: string
}

/** One line for a terminal. */
export function statusLine(status: Status): string {
  const { height, lagMs, blocksPerSecond, unacked, reconnects, misfits, drifted, gaps, booksKnown, state } = status
  const parts = [
    state,
    `height ${height ?? '-'}`,
    `lag ${lagMs === null ? '-' : `${lagMs} ms`}`,
    `${blocksPerSecond} blocks/s`,
    `unacked ${unacked}`,
    `reconnects ${reconnects}`,
    `unknown orders ${misfits}`,
  ]
  if (drifted > 0) parts.push(`drifted ${drifted}`)
  if (gaps > 0) parts.push(`gaps ${gaps}`)
  if (!booksKnown) parts.push('books unknown')
  return parts.join(' · ')
}
