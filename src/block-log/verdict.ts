// Which part is at fault: the node, the feeder or the link between feeder and log. Pure; docs/operators/guides/recover.md has
// the same as a recipe. Law: `live` alone is well, and every other state says what to do.

import { PULSE_MS, STATE_POSITIONING } from '../protocol/feed/protocol.ts'
import type { FeederView, LogStatus } from '../protocol/feed/status-shape.ts'

/** Without a block for this long, something stands still. */
export const STALLED_MS = 10_000
/** A feeder of which nothing was heard for this long is silent: three pulses, and time on the way. */
export const SILENT_MS = 3 * PULSE_MS + 1_000
/** Blocks that are later than this are late. */
const LATE_MS = 10_000

type LogPosition = Pick<LogStatus, 'height' | 'time' | 'blockMs' | 'booksKnown'> & {
  /** More waits for the archive than may: no block is taken. */
  readonly isFull?: boolean
}
type Verdict = Pick<LogStatus, 'state' | 'advice'>

/** How the feed stands; `feeders` are the connected ones and those that left. */
export function verdict(place: LogPosition, feeders: readonly FeederView[], nowMs: number): Verdict {
  if (place.isFull)
    return {
      state: 'archive_full',
      advice:
        'No block is taken, because the archive is hours behind and no more can be kept for it: see archive.failure, and mend R2 or D1, or take the archive out of wrangler.live.toml and deploy.',
    }
  const connected = feeders.filter((one) => one.connected)
  const [first] = connected
  if (!first) return unconnected(feeders)
  const [newest] = connected.filter(({ conflict }) => conflict === null).sort((a, b) => b.heardMs - a.heardMs)
  if (!newest) return conflicting(first)
  if (place.blockMs !== null && nowMs - place.blockMs < STALLED_MS) return flowing(place, nowMs)
  return nowMs - newest.heardMs < SILENT_MS ? stalled(place, newest, nowMs) : silent(newest)
}

function unconnected(left: readonly FeederView[]): Verdict {
  const last = left.toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0))[0]
  if (!last)
    return {
      state: 'no_feeder',
      advice:
        'No feeder was connected in the last day: start one beside the node (npm run feed); where one runs, its own line says why it is not connected.',
    }
  if (last.conflict !== null) return conflicting(last)
  return {
    state: 'link_down',
    advice: `No feeder is connected. The connection of ${quoted(last)} ended at ${iso(last.endedMs ?? last.heardMs)} (${last.why}): look whether it runs, and read its own line, which says why it cannot connect.`,
  }
}

function conflicting(feeder: FeederView): Verdict {
  return { state: 'conflict', advice: `Nothing is taken of feeder ${quoted(feeder)}: ${feeder.conflict}` }
}

function flowing({ time, booksKnown }: LogPosition, nowMs: number): Verdict {
  if (!booksKnown)
    return {
      state: 'books_unknown',
      advice:
        "Blocks come and the books are not known. Where that lasts longer than a minute, read the feeder's own line: it needs the node's HTTP (--info) and a snapshot folder that both can use.",
    }
  if (time !== null && nowMs - time > LATE_MS)
    return {
      state: 'late',
      advice: `Blocks come ${seconds(nowMs - time)} s late: look whether the node is in step with its chain, and whether the clocks are right.`,
    }
  return { state: 'live', advice: 'Nothing to do: blocks come and the books are known.' }
}

function stalled({ height }: LogPosition, feeder: FeederView, nowMs: number): Verdict {
  const says = feeder.state === null ? '' : ` (it says: ${feeder.state})`
  const name = quoted(feeder)
  if (height === null || nowMs - feeder.sinceMs < STALLED_MS || feeder.state === STATE_POSITIONING)
    return {
      state: 'starting',
      advice: `Feeder ${name} is connected and no block has come yet${says}: wait a little; where that stays so, read its own line.`,
    }
  if (feeder.head !== null && feeder.head > height)
    return {
      state: 'feeder_stuck',
      advice: `Feeder ${name} has read up to height ${feeder.head} and the log stands at ${height}${says}: a height between does not come. Read its own line, and start it anew.`,
    }
  if (feeder.head !== null && feeder.head < height)
    return {
      state: 'node_still',
      advice: `The node of feeder ${name} is at height ${feeder.head}, below the log's ${height}: wait while it catches up. Where it started over, or is the one that counts from now on: npm run admin -- feed reset.`,
    }
  return {
    state: 'node_still',
    advice: `Feeder ${name} is well and its node writes no blocks${says}: look at the node.`,
  }
}

function silent(feeder: FeederView): Verdict {
  const what = feeder.counters === null ? 'it or its node stands still' : 'it or its host stands still'
  return {
    state: 'feeder_silent',
    advice: `Feeder ${quoted(feeder)} is connected and was last heard at ${iso(feeder.heardMs)}: ${what}. Look at its host, and start it anew.`,
  }
}

const quoted = ({ name }: FeederView): string => JSON.stringify(name)
const iso = (ms: number): string => new Date(ms).toISOString()
const seconds = (ms: number): number => Math.round(ms / 1000)
