// What the log's pages come to: runs of blocks without a hole, and since when nothing is missing.

import type { EventBlock, HeightAndTime, HeldStretch } from '../protocol/feed/durable-api.ts'

/** All that is held for a wallet or a builder. */
export interface HeldFills {
  /** The last block that was looked at. */
  readonly head: HeightAndTime
  /** From this block to the head nothing is missing; of what is older, only some may be there. */
  readonly since: HeightAndTime
  /** Oldest first; between two runs are heights that nobody has. */
  readonly runs: readonly (readonly EventBlock[])[]
}

/** Joins stretches, newest first and at least one, where their heights touch. */
export function heldFills(head: HeightAndTime, stretches: readonly [HeldStretch, ...HeldStretch[]]): HeldFills {
  const [newest, ...older] = stretches
  const runs = [{ first: newest.first, stretches: [newest] }]
  for (const stretch of older) {
    const run = runs.at(-1)!
    if (stretch.last + 1 !== run.first.height) runs.push({ first: stretch.first, stretches: [stretch] })
    else {
      run.first = stretch.first
      run.stretches.push(stretch)
    }
  }
  const blocksOf = (parts: readonly HeldStretch[]) => parts.toReversed().flatMap(({ blocks }) => blocks)
  return { head, since: runs[0]!.first, runs: runs.toReversed().map((run) => blocksOf(run.stretches)) }
}
