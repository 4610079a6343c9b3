// Decides which sources to ask for the heights of a gap, and when. Invariants: sources are asked in the operator's order; a
// source is asked again only after its delay; a gap is beyond repair once every source has lacked its heights several times.
// A source that was never asked, such as one of another program, is asked even then.

import { backoffMs } from '../../core/backoff.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts'
import type { GapState } from '../backfill/window.ts'

const RETRY = { firstMs: 10 * MINUTE_MS, capMs: 6 * HOUR_MS, jitter: 0 }
/** A bucket gets the file of an hour when the hour is over, and a node may be behind. */
const TRIES_BEFORE_BEYOND = 5
/** A source that nobody asked for this long is of a program that no longer runs. Delays are shorter. */
const OTHER_PROGRAM_MS = DAY_MS

export interface RepairPolicy {
  /** Minimum age of a gap. Younger ones are left to the feeders. */
  readonly minAgeMs: number
  /** Factor of all delays between attempts. */
  readonly pace: number
}

type Attempt = GapState['attempts'][number]

/** Gaps, newest first, and the sources to ask now, in order. */
export interface DueRepair {
  readonly gaps: readonly GapState[]
  readonly sources: readonly string[]
}

/** The gaps for which a source is due, newest first. `nowMs`: the gateway's clock, which may have been set back. Gaps of one hour are repaired together, because files are hourly. */
export function dueRepairs(
  gaps: readonly GapState[],
  sources: readonly string[],
  nowMs: number,
  { minAgeMs, pace }: RepairPolicy,
): DueRepair[] {
  const due = gaps.toReversed().flatMap((gap): DueRepair[] => {
    const { recorded_ms: recordedMs, beyond_ms: beyondMs, attempts } = gap
    if (recordedMs === null || Math.abs(nowMs - recordedMs) < minAgeMs) return []
    const own = sources.filter((name) => {
      const last = attempts.find(({ source }) => source === name)
      if (last === undefined) return true
      return beyondMs === null && Math.abs(nowMs - last.at_ms) >= backoffMs(RETRY, last.tries - 1, 0) * pace
    })
    return own.length > 0 ? [{ gaps: [gap], sources: own }] : []
  })
  const groups: { readonly gaps: GapState[]; readonly sources: readonly string[] }[] = []
  for (const next of due) {
    const last = groups.at(-1)
    if (last && isSameRepair(last, next)) last.gaps.push(...next.gaps)
    else groups.push({ gaps: [...next.gaps], sources: next.sources })
  }
  return groups
}

function isSameRepair(one: DueRepair, next: DueRepair): boolean {
  const [newest] = one.gaps
  const [oldest] = next.gaps
  const spanMs = (newest?.before_ms ?? 0) - (oldest?.after_ms ?? 0)
  return spanMs <= HOUR_MS && one.sources.join('\n') === next.sources.join('\n')
}

const MAX_PAUSE_MS = HOUR_MS

/** Pause after a pass. `failures`: consecutive passes that failed. Each pass may fetch files of a source, at a price. */
export function pauseMs(everyMs: number, failures: number): number {
  const grown = backoffMs({ firstMs: everyMs, capMs: MAX_PAUSE_MS, jitter: 0 }, failures, 0)
  return Math.max(everyMs, grown)
}

/** A repair takes at most this share of the time of a gateway on one machine, which serves its clients in between. */
const IMPORT_SHARE = 1 / 3
/**
 * About 25 times the rate of the exchange. After a batch, the gateway builds files of its blocks, which takes longer than
 * the batch.
 */
const MAX_BLOCKS_PER_SECOND = 360
/** A batch that takes longer than this waited for something else. */
const MAX_REST_MS = 5_000

/** Pause after a batch of `blocks` new blocks that took the gateway `tookMs`. */
export function restMs(tookMs: number, blocks: number): number {
  const took = Math.max(0, tookMs)
  const pace = (blocks / MAX_BLOCKS_PER_SECOND) * 1_000 - took
  return Math.min(MAX_REST_MS, Math.max(pace, took * (1 / IMPORT_SHARE - 1)))
}

/**
 * Whether no source is left that could have the heights. `attempts`: the last one of each source, including recent ones of
 * other programs.
 */
export function isBeyondRepair(attempts: readonly Attempt[], sources: readonly string[], nowMs: number): boolean {
  const isRecent = ({ at_ms: atMs }: Attempt) => Math.abs(nowMs - atMs) < OTHER_PROGRAM_MS
  const isDone = ({ outcome, tries }: Attempt) => outcome !== 'failed' && tries >= TRIES_BEFORE_BEYOND
  return (
    sources.every((name) => attempts.some((attempt) => attempt.source === name && isDone(attempt))) &&
    attempts.every((attempt) => sources.includes(attempt.source) || !isRecent(attempt) || isDone(attempt))
  )
}
