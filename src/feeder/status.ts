// The feeder's own status: a line for people, a machine-readable line, and a short state. The state also goes to the
// gateway, so it must reveal nothing about the host.

import * as z from 'zod'
import { describeField } from '../core/field-description.ts'
import { visible } from '../core/visible.ts'
import { Height } from '../protocol/feed/block.ts'
import { STATE_POSITIONING } from '../protocol/feed/protocol.ts'
import type { LinkError } from './dial-error.ts'
import { REQUIRED_STREAMS, type StreamName } from './streams.ts'

const WAITING = REQUIRED_STREAMS.map((name) => `waiting for ${name}` as const)
/** The feeder's activity in a few words. */
export const FEEDER_STATES = [
  'sending',
  'connecting',
  'refused by the gateway',
  'cannot reach the gateway',
  'waiting for files',
  STATE_POSITIONING,
  'waiting for acknowledgements',
  'waiting for blocks',
  ...WAITING,
] as const

const Count = z.int().min(0)

export const StatusShape = z.object({
  state: describeField(z.enum(FEEDER_STATES), 'activity of the feeder', '`sending`', 'see the next table'),
  why: describeField(z.string().nullable(), 'reason if it is not sending normally', 'null', 'follow it'),
  height: describeField(Height.nullable(), 'height of the last block read; null before the first', 'grows'),
  lagMs: describeField(
    z.int().nullable(),
    'this host’s clock minus the time of that block, ms; null before the first',
    'under a second',
    'the node lags or has stalled, or the clock is wrong',
  ),
  blocksPerSecond: describeField(
    Count,
    'blocks read in the last second',
    'the exchange’s rate, higher while catching up',
  ),
  unacked: describeField(
    Count,
    'blocks, snapshots and gaps that the gateway has not stored yet',
    'under about 30',
    'the connection to the gateway is slow or down; nothing is lost',
  ),
  reconnects: describeField(
    Count,
    'reconnections',
    'rarely grows',
    'the log says why; one per deploy of `weir-live` is normal',
  ),
  misfits: describeField(
    Count,
    'diffs that did not fit the books, such as diffs of unknown orders',
    '0',
    'the coin is repaired from the node’s snapshot; if it grows, the node’s files lack lines',
  ),
  drifted: describeField(
    Count,
    'books that differed from the node’s snapshot and were repaired',
    '0',
    'report it with the log lines around it: books should not drift',
  ),
  gaps: describeField(
    Count,
    'heights that could not be sent in full',
    '0',
    'see the log: a line was missing or unreadable',
  ),
  refusedEvents: describeField(
    Count,
    'events skipped because of an unusable shape',
    '0',
    'see the log; the node may be newer than this feeder',
  ),
  lateLines: describeField(
    Count,
    'lines of misc events, TWAPs or order statuses that came after their block and were sent with the next one',
    '0',
    'see the log; the node’s disk is slow, or the node runs without `--disable-output-file-buffering`',
  ),
  lateExtraLines: describeField(
    Count,
    'lines of oracle updates or writer actions that came after their block and were sent with the next one',
    'grows slowly, because no block waits for these lines',
    'if it grows with every block, the node writes these files late: their rows then have the height of a later block',
  ),
  stallMs: describeField(
    Count,
    'longest stall in the last second, ms; 0 if at most 20',
    '0',
    'the host may be overloaded; if it is not, report the stall with the block height',
  ),
  stalls: describeField(Count, 'seconds with such a stall', 'rarely grows', 'see `stallMs`'),
  booksKnown: describeField(
    z.boolean(),
    'true if the feeder knows the node’s books',
    '`true`',
    'it is waiting for a snapshot of the node: see `why`, `--info` and `--snapshot-dir`',
  ),
})
export type Status = Readonly<z.infer<typeof StatusShape>>

/** Facts that determine the state. */
interface Facts {
  readonly linkError: Pick<LinkError, 'state' | 'why'> | null
  readonly isConnected: boolean
  /** The problem with the node's files; null if there is none. */
  readonly filesError: string | null
  readonly isRepositioning: boolean
  /** Why the last snapshot request failed. */
  readonly snapshotError: string | null
  readonly isFull: boolean
  /** True if no block was read for several seconds. */
  readonly isQuiet: boolean
  /** Streams that the others wait for. */
  readonly awaited: readonly StreamName[]
}

export function stateOf(facts: Facts): Pick<Status, 'state' | 'why'> {
  const { linkError, filesError, snapshotError, awaited } = facts
  if (linkError)
    return { state: linkError.state, why: [linkError.why, filesError].filter((one) => one !== null).join('; and ') }
  if (!facts.isConnected) return { state: 'connecting', why: filesError }
  if (filesError !== null) return { state: 'waiting for files', why: filesError }
  if (facts.isRepositioning) return { state: STATE_POSITIONING, why: snapshotError }
  if (facts.isFull) return { state: 'waiting for acknowledgements', why: snapshotError }
  const [stream] = awaited
  if (facts.isQuiet) return { state: stream ? `waiting for ${stream}` : 'waiting for blocks', why: snapshotError }
  return { state: 'sending', why: snapshotError }
}

/** The status as one line for a terminal. */
export function statusLine(status: Status): string {
  const { height, lagMs, blocksPerSecond, unacked, reconnects, misfits, drifted, gaps, booksKnown } = status
  const parts = [
    status.why === null ? status.state : `${status.state}: ${status.why}`,
    `height ${height ?? '-'}`,
    `lag ${lagMs === null ? '-' : `${lagMs} ms`}`,
    `${blocksPerSecond} blocks/s`,
    `unacked ${unacked}`,
    `reconnects ${reconnects}`,
    `misfits ${misfits}`,
  ]
  if (drifted > 0) parts.push(`drifted ${drifted}`)
  if (gaps > 0) parts.push(`gaps ${gaps}`)
  if (status.refusedEvents > 0) parts.push(`refused events ${status.refusedEvents}`)
  if (status.lateLines > 0) parts.push(`late lines ${status.lateLines}`)
  if (status.stallMs > 0) parts.push(`stalled ${status.stallMs} ms`)
  if (!booksKnown) parts.push('books unknown')
  return visible(parts.join(' · '))
}
