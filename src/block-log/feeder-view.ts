// A connected feeder as `/status` tells of it, made of what it said and of when. Pure; roster.ts keeps those that left.

import type { Pulse } from '../protocol/feed/protocol.ts'
import type { FeederView } from '../protocol/feed/status-shape.ts'
import type { FeederState } from './chain.ts'

/** When things came from a feeder, by our clock. */
export interface Heard {
  readonly sinceMs: number
  readonly heardMs: number
  readonly blockMs: number | null
  /** Its last pulse and when it came, null before the first. */
  readonly pulse: { readonly atMs: number; readonly said: Pulse } | null
}

export function viewOf(state: FeederState, { sinceMs, heardMs, blockMs, pulse }: Heard): FeederView {
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
