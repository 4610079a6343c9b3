// What the feeder says of itself: its status of the last second as a line for people and as one for machines, and the
// few words for what it does, which also go to the gateway and must tell nothing of its host.

import * as z from 'zod'
import { describeField } from '../core/field-description.ts'
import { visible } from '../core/visible.ts'
import { Height } from '../protocol/feed/block.ts'
import { STATE_POSITIONING } from '../protocol/feed/protocol.ts'
import type { LinkError } from './dial-error.ts'
import { REQUIRED_STREAMS, type StreamName } from './streams.ts'

const WAITING = REQUIRED_STREAMS.map((name) => `waiting for ${name}` as const)
/** What it does, in a few words. */
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
  state: describeField(z.enum(FEEDER_STATES), 'what it does', '`sending`', 'see the next table'),
  why: describeField(z.string().nullable(), 'why, where it does not send as it should', 'null', 'do what it says'),
  height: describeField(Height.nullable(), 'the node’s newest block that it has read; null before the first', 'grows'),
  lagMs: describeField(
    z.int().nullable(),
    'this host’s clock minus the time of that block, ms; null before the first',
    'under a second',
    'the node is late or stands still, or the clock is wrong',
  ),
  blocksPerSecond: describeField(
    Count,
    'blocks read in the last second',
    'the exchange’s own rate, more while catching up',
  ),
  unacked: describeField(
    Count,
    'blocks, snapshots and gaps that it holds until the gateway has stored them',
    'under about 30',
    'the way to the gateway is slow or cut; what is held is not lost',
  ),
  reconnects: describeField(
    Count,
    'connections after the first',
    'rarely grows',
    'each has a sentence on the line before; once per deploy of `weir-live` is normal',
  ),
  misfits: describeField(
    Count,
    'diffs that did not fit our books, such as of unknown orders',
    '0',
    'the coin is repaired from the node’s snapshot; where it grows, the node’s files lack lines',
  ),
  drifted: describeField(
    Count,
    'books that differed from the node’s snapshot and were repaired',
    '0',
    'report it with the sentences around it: books should not drift',
  ),
  gaps: describeField(
    Count,
    'heights that could not be sent whole',
    '0',
    'each has a sentence: a line was missing or unreadable',
  ),
  refusedEvents: describeField(
    Count,
    'events left out because their shape was of no use',
    '0',
    'each has a sentence; the node may be newer than this feeder',
  ),
  lateLines: describeField(
    Count,
    'lines of misc events, TWAP or order statuses that came after their block was sent, and went with the next',
    '0',
    'each has a sentence; the node’s disk is slow, or it runs without `--disable-output-file-buffering`',
  ),
  stallMs: describeField(
    Count,
    'the longest time of the last second in which it did nothing else, ms; 0 where that was at most 20',
    '0',
    'its host is busy with others, or report it with the height',
  ),
  stalls: describeField(Count, 'seconds with such a stall', 'rarely grows', 'as of `stallMs`'),
  booksKnown: describeField(
    z.boolean(),
    'whether it knows the node’s books',
    '`true`',
    'it asks the node for a snapshot: see `why`, `--info` and `--snapshot-dir`',
  ),
})
export type Status = Readonly<z.infer<typeof StatusShape>>

/** What the words are chosen by. */
interface Facts {
  readonly linkError: Pick<LinkError, 'state' | 'why'> | null
  readonly isConnected: boolean
  /** What is wrong with the node's files, null where nothing is. */
  readonly filesError: string | null
  readonly isRepositioning: boolean
  /** Why the node gave no snapshot when last asked. */
  readonly snapshotError: string | null
  readonly isFull: boolean
  /** No block was read for a while. */
  readonly isQuiet: boolean
  /** Streams that others wait for. */
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

/** One line for a terminal. */
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
