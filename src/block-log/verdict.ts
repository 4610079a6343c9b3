// Finds the part at fault: the node, the feeder, or the link between feeder and log. This file is pure.
// docs/operators/guides/recover.md explains the same states as a how-to guide. Invariants: only `live` is healthy;
// every other state says what to do.

import { PULSE_MS, STATE_POSITIONING } from '../protocol/feed/protocol.ts'
import type { FeederView, LogStatus } from '../protocol/feed/status-shape.ts'

/** If no block arrives for this long, the feed is stalled. */
export const STALLED_MS = 10_000
/**
 * If no frame arrives from a feeder for this long, the feeder is silent. This is three pulses and some network delay.
 */
export const SILENT_MS = 3 * PULSE_MS + 1_000
/** A block that arrives later than this after its block time is late. */
const LATE_MS = 10_000

type LogPosition = Pick<LogStatus, 'height' | 'time' | 'blockMs' | 'booksKnown'> & {
  /** Whether the archive's backlog is full, so that no block is accepted. */
  readonly isFull?: boolean
}
type Verdict = Pick<LogStatus, 'state' | 'advice'>

/** The state of the feed, with advice. `feeders`: connected and departed feeders. */
export function verdict(log: LogPosition, feeders: readonly FeederView[], nowMs: number): Verdict {
  if (log.isFull)
    return {
      state: 'archive_full',
      advice:
        'No blocks are accepted: the archive is hours behind and its backlog is full. See archive.failure and fix R2 or D1, or remove the archive from the wrangler files and deploy.',
    }
  const connected = feeders.filter((one) => one.connected)
  const [first] = connected
  if (!first) return unconnected(feeders)
  const [newest] = connected.filter(({ conflict }) => conflict === null).sort((a, b) => b.heardMs - a.heardMs)
  if (!newest) return conflicting(first)
  if (log.blockMs !== null && nowMs - log.blockMs < STALLED_MS) return flowing(log, nowMs)
  return nowMs - newest.heardMs < SILENT_MS ? stalled(log, newest, nowMs) : silent(newest)
}

function unconnected(left: readonly FeederView[]): Verdict {
  const last = left.toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0))[0]
  if (!last)
    return {
      state: 'no_feeder',
      advice:
        'No feeder connected in the last 24 hours. Start one next to the node (npx weir feed). If one is running, its status line says why it cannot connect.',
    }
  if (last.conflict !== null) return conflicting(last)
  return {
    state: 'link_down',
    advice: `No feeder is connected. The connection of ${quoted(last)} ended at ${iso(last.endedMs ?? last.heardMs)} (${last.why}). Check that it is running; its status line says why it cannot connect.`,
  }
}

function conflicting(feeder: FeederView): Verdict {
  return { state: 'conflict', advice: `Feeder ${quoted(feeder)} is refused: ${feeder.conflict}` }
}

function flowing({ time, booksKnown }: LogPosition, nowMs: number): Verdict {
  if (!booksKnown)
    return {
      state: 'books_unknown',
      advice:
        "Blocks arrive, but the order books are unknown. If this lasts longer than a minute, read the feeder's status line. The feeder needs the HTTP API of the node (--info) and a snapshot folder that it shares with the node.",
    }
  if (time !== null && nowMs - time > LATE_MS)
    return {
      state: 'late',
      advice: `Blocks arrive ${seconds(nowMs - time)} s late. Check that the node is in sync with its chain and that the clocks are right.`,
    }
  return { state: 'live', advice: 'Blocks arrive and the order books are known.' }
}

function stalled({ height }: LogPosition, feeder: FeederView, nowMs: number): Verdict {
  const report = feeder.state === null ? '' : ` (it reports: ${feeder.state})`
  const name = quoted(feeder)
  if (height === null || nowMs - feeder.sinceMs < STALLED_MS || feeder.state === STATE_POSITIONING)
    return {
      state: 'starting',
      advice: `Feeder ${name} is connected, but no block has arrived yet${report}. Wait a moment; if nothing changes, read its status line.`,
    }
  if (feeder.head !== null && feeder.head > height)
    return {
      state: 'feeder_stuck',
      advice: `Feeder ${name} has read up to height ${feeder.head}, but the log is at ${height}${report}. It does not send the blocks in between. Read its status line, then restart it.`,
    }
  if (feeder.head !== null && feeder.head < height)
    return {
      state: 'node_still',
      advice: `The node of feeder ${name} is at height ${feeder.head}, below the log's ${height}. Wait until it catches up. If the node started over or replaced another node, run: npx weir admin feed reset.`,
    }
  return {
    state: 'node_still',
    advice: `Feeder ${name} is healthy, but its node writes no blocks${report}. Check the node.`,
  }
}

function silent(feeder: FeederView): Verdict {
  const what = feeder.counters === null ? 'The feeder or its node has stalled' : 'The feeder or its host has stalled'
  return {
    state: 'feeder_silent',
    advice: `Feeder ${quoted(feeder)} is connected but was last heard from at ${iso(feeder.heardMs)}. ${what}. Check its host, then restart it.`,
  }
}

const quoted = ({ name }: FeederView): string => JSON.stringify(name)
const iso = (ms: number): string => new Date(ms).toISOString()
const seconds = (ms: number): number => Math.round(ms / 1000)
