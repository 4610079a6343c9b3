// Feeders by name, as last seen. With this list, `/status` also shows feeders that have left. It is sorted newest first
// and has one entry per name, at most MAX_LISTED_FEEDERS. This file is pure: the shell stores the list.

import type { Pulse } from '../protocol/feed/protocol.ts'
import type { FeederView } from '../protocol/feed/status-shape.ts'
import type { FeederState } from './chain.ts'

export const MAX_LISTED_FEEDERS = 8
/** How long a departed feeder remains in the list. */
const LISTED_MS = 24 * 3_600_000

export type FeederList = readonly FeederView[]

/** Returns the list with a feeder's current state. */
export function withFeeder(list: FeederList, view: FeederView): FeederList {
  return [view, ...list.filter(({ name }) => name !== view.name)].slice(0, MAX_LISTED_FEEDERS)
}

export function asEnded(view: FeederView, endedMs: number, why: string): FeederView {
  return { ...view, connected: false, endedMs, why }
}

/**
 * Returns the list after a restart of the log. Feeders that were connected but no longer are have lost their
 * connection.
 */
export function afterRestart(list: FeederList, connected: readonly string[], nowMs: number): FeederList {
  const hasLeft = (view: FeederView) => view.connected && !connected.includes(view.name)
  return list.map((view) => (hasLeft(view) ? asEnded(view, nowMs, 'the log restarted') : view))
}

/** Feeders that left recently and have not returned. */
export function departed(list: FeederList, connected: readonly string[], nowMs: number): FeederView[] {
  return list.filter(
    ({ name, endedMs }) => !connected.includes(name) && endedMs !== null && nowMs - endedMs < LISTED_MS,
  )
}

/** The reason why a connection ended, from its close code. The reason that the other side sent is not repeated. */
export function closeReason(code: number): string {
  if (code === 1000 || code === 1001) return 'the feeder was stopped'
  if (code === 1005 || code === 1006)
    return 'the connection was lost: the feeder was killed, or its host or the network failed'
  if (code === 1012) return 'the feed was reset'
  return `the connection closed with code ${code}`
}

/**
 * When frames arrived from a feeder, by our clock. This is part of the socket's attachment, so its keys must not
 * change.
 */
export interface FeederActivity {
  readonly sinceMs: number
  readonly heardMs: number
  readonly blockMs: number | null
  /** The feeder's last pulse and when it arrived; null before the first pulse. */
  readonly pulse: { readonly atMs: number; readonly said: Pulse } | null
}

/** A connected feeder as `/status` shows it. */
export function viewOf(state: FeederState, { sinceMs, heardMs, blockMs, pulse }: FeederActivity): FeederView {
  const { name, conflict } = state
  const said = pulse?.said ?? null
  const heads = [state.head, said?.head ?? null].filter((head) => head !== null)
  return {
    name,
    connected: true,
    state: said?.state ?? null,
    conflict,
    sinceMs,
    heardMs,
    blockMs,
    head: heads.length > 0 ? Math.max(...heads) : null,
    time: said?.time ?? null,
    lagMs: said === null || said.time === null ? null : said.now - said.time,
    clockMs: pulse === null ? null : pulse.said.now - pulse.atMs,
    endedMs: null,
    why: null,
    counters: said && countersOf(said),
  }
}

function countersOf({
  unacked,
  reconnects,
  misfits,
  drifted,
  gaps,
  refusedEvents,
  lateLines,
  stallMs,
  stalls,
}: Pulse): FeederView['counters'] {
  return { unacked, reconnects, misfits, drifted, gaps, refusedEvents, lateLines, stallMs, stalls }
}
