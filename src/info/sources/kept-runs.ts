// What is kept of a wallet's fills within a window, as runs without a hole, oldest first, and how far a reading came.

import { foldedPart } from '../../archive/funded-runs.ts'
import type { Failure } from '../../core/failure.ts'
import { ok, type Result } from '../../core/result.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { OpenPast, PastRead, PastWindow } from '../ports.ts'

export interface KeptRuns {
  readonly runs: readonly (readonly EventBlock[])[]
  readonly read: PastRead
}

/** Whether a block and those before it do. */
export type IsEnough = (block: EventBlock, isAfterHole: boolean) => boolean

export async function keptRuns(
  open: OpenPast,
  window: PastWindow,
  isEnough: IsEnough,
): Promise<Result<KeptRuns, Failure>> {
  const runs: EventBlock[][] = []
  const read = await reachOf(open, window, (block, isAfterHole) => {
    if (runs.length === 0 || isAfterHole) runs.push([])
    runs.at(-1)!.push(foldedPart(block))
    return isEnough(block, isAfterHole)
  })
  if (!read.ok) return read
  if (window.order === 'newest') for (const run of runs.reverse()) run.reverse()
  return ok({ runs, read: read.value })
}

/** How far back a reading comes until there is enough. */
export async function reachOf(
  open: OpenPast,
  window: PastWindow,
  isEnough: IsEnough,
): Promise<Result<PastRead, Failure>> {
  const told: { last: HeightAndTime | null } = { last: null }
  const read = await open.read(window, (block, isAfterHole) => {
    told.last = { height: block.height, time: block.time }
    return !isEnough(block, isAfterHole)
  })
  const isShort = read.ok && window.order === 'newest' && read.value.ended === 'enough'
  return isShort && told.last !== null ? ok(later(read.value, told.last)) : read
}

/** A reading that says no earlier time than `since`. */
export function later(read: PastRead, since: HeightAndTime): PastRead {
  return since.height > read.since.height ? { ...read, since } : read
}
