// The rules of order: which frames of a feeder are accepted, and how other frames are answered. They are pure; the
// shell stores and sends. Heights number the chain of events and are never skipped silently. Epochs number the chain of
// books.
//
//   block:    ≤ last: duplicate; last+1: accepted; > last+1: one resend, then blocks are ignored until it arrives
//   snapshot: scope all starts an epoch at `last`; scope coins repairs books within the epoch
//   gone:     records a gap, after which the log continues; so does a snapshot of all books above the log

import type { BlockFrame, SnapshotFrame } from '../protocol/feed/protocol.ts'
import type { GapReason, SkippedHeights } from '../protocol/feed/status-shape.ts'

export interface ChainState {
  /** Epoch of the books; null before the first seed. */
  readonly epoch: string | null
  /** Last accepted height; null while the log is empty. */
  readonly height: number | null
  /** False from a block with unknown book changes until the next `scope: 'all'` snapshot. */
  readonly booksKnown: boolean
}

export const EMPTY_CHAIN: ChainState = { epoch: null, height: null, booksKnown: false }

/** The state of a connected feeder, as the feeder reports it. */
export interface FeederState {
  readonly name: string
  readonly first: number | null
  readonly head: number | null
  /** Height that was requested with `resend`. Other blocks of this feeder are ignored until that block arrives. */
  readonly awaiting: number | null
  /** Set permanently if the feeder's node does not continue this log. */
  readonly conflict: string | null
}

type BlockDecision =
  | { readonly do: 'take' }
  | { readonly do: 'acknowledge' }
  | { readonly do: 'resend'; readonly from: number }
  | { readonly do: 'ignore' }

/** Decides what to do with a feeder's block. */
export function judgeBlock(
  chain: ChainState,
  feeder: FeederState | null,
  block: Pick<BlockFrame, 'height'>,
): BlockDecision {
  if (!feeder || feeder.conflict !== null) return { do: 'ignore' }
  if (chain.height === null || block.height === chain.height + 1) return { do: 'take' }
  if (block.height <= chain.height) return { do: 'acknowledge' }
  if (feeder.awaiting !== null && feeder.awaiting <= chain.height + 1) return { do: 'ignore' }
  return { do: 'resend', from: chain.height + 1 }
}

/** `gap`: heights that no feeder can send any more. The gap is recorded before the seed. */
export type SeedDecision = { readonly do: 'seed'; readonly gap: SkippedHeights | null } | { readonly do: 'repair' }

type SnapshotDecision =
  | SeedDecision
  | { readonly do: 'resend'; readonly from: number }
  | { readonly do: 'refuse'; readonly field: string; readonly message: string }
  | { readonly do: 'ignore' }

/** Decides what to do with a feeder's snapshot. It is called for each part. `others`: the other active feeders. */
export function judgeSnapshot(
  chain: ChainState,
  feeder: FeederState | null,
  others: readonly FeederState[],
  snapshot: Pick<SnapshotFrame, 'scope' | 'height'>,
): SnapshotDecision {
  if (!feeder || feeder.conflict !== null) return { do: 'ignore' }
  const last = chain.height
  if (snapshot.scope === 'coins') {
    if (last === snapshot.height && chain.booksKnown) return { do: 'repair' }
    return refuse(
      `books of height ${snapshot.height} cannot repair height ${last}. Send the books as of the last block`,
    )
  }
  if (last === null || snapshot.height === last) return { do: 'seed', gap: null }
  if (snapshot.height < last)
    return refuse(`is ${snapshot.height}, but the log is at ${last}. Send a snapshot as of the last block`)
  const missing = last + 1
  if ([feeder, ...others].some((one) => hasHeight(one, missing))) return { do: 'resend', from: missing }
  return { do: 'seed', gap: { from: missing, to: snapshot.height } }
}

const refuse = (message: string): SnapshotDecision => ({ do: 'refuse', field: 'height', message })

const hasHeight = (feeder: FeederState, height: number): boolean =>
  feeder.conflict === null && feeder.first !== null && feeder.first <= height

/** The gap that `gone {first}` leaves. Null if there is no gap, or if another feeder still has the heights. */
export function gapAfterGone(chain: ChainState, others: readonly FeederState[], first: number): SkippedHeights | null {
  if (chain.height === null || first <= chain.height + 1) return null
  const from = chain.height + 1
  return others.some((one) => hasHeight(one, from)) ? null : { from, to: first - 1 }
}

/** The reason for a gap that a feeder declares at `from`. `refused`: its last frames were rejected. */
export function gapReason(feeder: Pick<FeederState, 'first'>, from: number, refused: boolean): GapReason {
  if (refused) return 'refused'
  return feeder.first !== null && feeder.first <= from ? 'lines_missing' : 'files_gone'
}

/**
 * Maximum number of heights below the log at which a node still counts as lagging: one hour of blocks at 14.5/s. A node
 * that started over is near height 0, or the digests of stored heights reveal it.
 */
export const LAG_BLOCKS = 52_200

/** The reason why this feeder's node does not continue the log; null if it may continue it. */
export function conflictAtHello(chain: ChainState, head: number | null): string | null {
  if (chain.height === null || head === null || head + LAG_BLOCKS >= chain.height) return null
  return startedOverMessage(head, chain.height)
}

/** Message for the operator when a node does not continue the log. */
export function startedOverMessage(head: number, height: number): string {
  return `the node is at height ${head}, the log at ${height}: the node started over or belongs to another chain. Point the feeder at the right node, or start a new log with: npx weir admin feed reset`
}
