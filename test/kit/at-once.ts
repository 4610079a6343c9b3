// The results of work that a Worker does in steps (`inTurns`).

import { readBackfill as backfillSteps } from '../../src/archive/archive/backfill-lines.ts'
import { contradictionOf as comparison } from '../../src/archive/archive/source-check.ts'
import { linesByKey, sortedLines as sorted } from '../../src/archive/files/merge.ts'
import type { BlockEvents } from '../../src/archive/files/rows.ts'

function atOnce<T>(work: Generator<number, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

export const readBackfill = (text: string) => atOnce(backfillSteps(text))
export const contradictionOf = (...of: Parameters<typeof comparison>) => atOnce(comparison(...of))
export const sortedLines = (blocks: readonly BlockEvents[]) => sorted(blocks, atOnce(linesByKey(blocks)))
