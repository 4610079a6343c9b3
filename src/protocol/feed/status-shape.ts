// Fields of `GET /status`. The code's types, the published schema and the table in the docs are generated from this
// file. Invariant: no host addresses or URLs, only names chosen by operators.

import * as z from 'zod'
import { describeField } from '../../core/field-description.ts'
import { REGIONS } from '../../core/variables.ts'
import { Height, Millis } from './block.ts'
import { FilesShape } from './files-shape.ts'
import { type Frozen, SourcesShape } from './sources-shape.ts'

/** States of the feed. verdict.ts decides which one applies. */
export const FEED_STATES = [
  'live',
  'late',
  'books_unknown',
  'starting',
  'node_still',
  'feeder_stuck',
  'feeder_silent',
  'conflict',
  'link_down',
  'no_feeder',
  'archive_full',
] as const

/** A range of heights that will never come. Both ends are included. */
export interface SkippedHeights {
  readonly from: number
  readonly to: number
}

/** Reasons for missing heights, as shown by `/status`. */
export const GAP_REASONS = ['files_gone', 'lines_missing', 'refused', 'seeded_above', 'reset'] as const
export type GapReason = (typeof GAP_REASONS)[number]

const Count = z.int().min(0)
const SEE_FEEDER_LOG = 'read the feeder’s log'

/** A feeder connected now or within the last day. */
const FeederShape = z.object({
  name: describeField(z.string(), 'its `--name`'),
  connected: describeField(z.boolean(), 'whether the feeder is connected', '`true`', 'see `why`'),
  state: describeField(
    z.string().nullable(),
    'state in its last pulse; null before the first pulse',
    '`sending`',
    'see the states of a feeder',
  ),
  conflict: describeField(
    z.string().nullable(),
    'reason why its blocks are rejected',
    'null',
    'point it at the right node, or run `feed reset`',
  ),
  sinceMs: describeField(Millis, 'time of its hello, Unix ms', 'long ago', 'it reconnects: see `counters.reconnects`'),
  heardMs: describeField(
    Millis,
    'time of its last frame, Unix ms',
    'under 3 s ago',
    'the feeder or its host hangs, or its connection is interrupted',
  ),
  blockMs: describeField(
    Millis.nullable(),
    'time of its last block, Unix ms; null before the first',
    'under a second ago',
    'its node has stalled if `heardMs` is fresh',
  ),
  head: describeField(
    Height.nullable(),
    'newest height that it reported; null if it reported none',
    'grows, near `height`',
    'if it stays ahead of `height`, a height in between is missing',
  ),
  time: describeField(
    Millis.nullable(),
    'node time of the newest block it read, Unix ms; null: not reported',
    'grows',
    'check the node',
  ),
  lagMs: describeField(
    z.int().nullable(),
    'its clock minus `time` in its last pulse, ms',
    'under a second',
    'the node is behind, or the host’s clock is wrong',
  ),
  clockMs: describeField(
    z.int().nullable(),
    'its clock minus ours when its last pulse arrived, ms',
    'within a second of 0',
    'set the host’s clock',
  ),
  endedMs: describeField(Millis.nullable(), 'time when its connection ended, Unix ms; null while connected'),
  why: describeField(z.string().nullable(), 'why its connection ended; null while connected'),
  counters: z
    .object({
      unacked: describeField(Count, 'blocks it retains until they are durable here', 'under about 30', SEE_FEEDER_LOG),
      reconnects: describeField(Count, 'reconnects since its start', 'rarely grows', SEE_FEEDER_LOG),
      misfits: describeField(Count, 'diffs that did not match its books', '0', SEE_FEEDER_LOG),
      drifted: describeField(Count, 'books that differed from the node’s and were repaired', '0', SEE_FEEDER_LOG),
      gaps: describeField(Count, 'heights it could not send', '0', SEE_FEEDER_LOG),
      refusedEvents: describeField(Count, 'events it omitted', '0', SEE_FEEDER_LOG),
      lateLines: describeField(Count, 'lines that came after their block was sent', '0', SEE_FEEDER_LOG),
      stallMs: describeField(Count, 'longest stall in the second before its last pulse, ms', '0', SEE_FEEDER_LOG),
      stalls: describeField(Count, 'seconds with a stall', 'rarely grows', SEE_FEEDER_LOG),
    })
    .nullable()
    .describe('counters since its start; null if it sends no pulses.'),
})
export type FeederView = Frozen<z.infer<typeof FeederShape>>

const ArchiveShape = z.object({
  height: describeField(
    Height.nullable(),
    'last archived height; null: none yet, or not reported since the log object started',
    'grows each minute by the blocks of one minute',
    'see `archive.failure`',
  ),
  behind: describeField(
    Count.nullable(),
    'heights in the log but not in the archive; null if `height` is null',
    'under two minutes of blocks',
    'see `archive.failure`',
  ),
  lagMs: describeField(
    Count.nullable(),
    'the same lag as time between blocks, ms',
    'under 90 s',
    'see `archive.failure`; after hours the log fills up: see "The archive falls behind"',
  ),
  segments: describeField(Count.nullable(), 'segments in the archive', 'grows by one per minute'),
  checkpoint: z
    .object({
      height: describeField(Height, 'lowest height of its books'),
      timeMs: describeField(Millis, 'time of that block, Unix ms', 'within the last hour'),
    })
    .nullable()
    .describe('last checkpoint of all books; null: none yet.'),
  failure: z
    .object({
      atMs: describeField(Millis, 'time of the failure, Unix ms', 'long ago'),
      words: describeField(z.string(), 'error message; see "The archive falls behind"'),
    })
    .nullable()
    .describe('last failure; null: none yet. Failed work is retried until it succeeds.'),
  files: FilesShape.nullable().describe(
    'archive files, from which user rows are served; null: not reported since the log object started.',
  ),
})
export type ArchiveView = Frozen<z.infer<typeof ArchiveShape>>

/** States of a gap in the archive. */
const GAP_REPAIRS = ['open', 'partly_repaired', 'repaired', 'beyond_repair'] as const

const GapShape = z.object({
  from: describeField(Height, 'first missing height'),
  to: describeField(Height, 'last missing height'),
  why: describeField(z.enum(GAP_REASONS), 'reason', '', 'see "A gap was recorded"'),
  atMs: describeField(Millis, 'time when it was recorded, Unix ms'),
  repair: describeField(
    z.enum(GAP_REPAIRS).nullable(),
    'whether the archive has the heights from a different source; `beyond_repair`: no source has those that are missing; null: there is no archive, or it does not know, for example because it removed blocks of that time',
    '`repaired`',
    'run `npx weir repair`',
  ),
  repairedFrom: describeField(z.array(z.string()), 'names of those sources, at most 20'),
})
export type GapRepair = Frozen<Pick<z.infer<typeof GapShape>, 'repair' | 'repairedFrom'>>
export type RecordedGap = Omit<Frozen<z.infer<typeof GapShape>>, keyof GapRepair>

/** Fields of the status that the log provides. */
const LogShape = z.object({
  state: describeField(z.enum(FEED_STATES), 'state of the feed', '`live`', 'follow `advice`'),
  advice: describeField(z.string(), 'the state as a sentence with the next step'),
  chain: describeField(z.string(), 'chain name'),
  feedRegion: describeField(
    z.enum(REGIONS).nullable(),
    'location hint of the log and the hubs (`FEED_REGION`); null: wherever they are first accessed',
    'near the node',
    'see "Choose a region"',
  ),
  epoch: describeField(
    z.string().nullable(),
    'unbroken chain of books; null before the first books',
    'changes only when books start over',
    'see `gaps`',
  ),
  height: describeField(
    Height.nullable(),
    'last height of the log; null while empty',
    'grows with the exchange',
    'see `state`',
  ),
  durable: describeField(
    Height.nullable(),
    'last stored height',
    'within about a second of `height`',
    'read the log of `weir-live`',
  ),
  time: describeField(Millis.nullable(), 'node time of the last block, Unix ms; null while the log is empty'),
  blockMs: describeField(
    Millis.nullable(),
    'time when the last block was accepted, Unix ms; null: none since the log object started',
    'under a second ago',
    'see `state`',
  ),
  booksKnown: describeField(
    z.boolean(),
    'false after a block with unknown changes, until the next full books arrive',
    '`true`',
    'see "Books are not known"',
  ),
  feeders: z.array(FeederShape).describe('connected feeders, then those that left within the last day, at most 8.'),
  readers: z
    .array(
      z.object({
        name: describeField(z.string(), 'hub or relay', 'as many hubs as `BOOK_HUBS`', 'see "One hub has no books"'),
        height: describeField(
          Height.nullable(),
          'last height sent to it; null before the first',
          'near `height`',
          'see "Readers fall behind"',
        ),
      }),
    )
    .describe('hubs and relays that follow the log.'),
  regions: z
    .array(
      z.object({
        region: describeField(z.string(), 'region of the relays; `local` if the platform reports none'),
        relays: describeField(Count, 'relays that sent blocks in the last few minutes'),
        sockets: describeField(Count, 'open client sockets'),
        subscriptions: describeField(Count, 'subscriptions of those sockets'),
        p50Ms: describeField(
          Count,
          'median age of blocks when they are sent, ms; the value may be up to a tenth too high',
          'near the feeders’ `lagMs` plus network latency',
          'see "Choose a region"',
        ),
        p99Ms: describeField(
          Count,
          '99th percentile of the same age',
          'below three times `p50Ms`',
          'see "Choose a region"',
        ),
      }),
    )
    .describe('block ages by region, reported by the relays in the last minute.'),
  archive: ArchiveShape.nullable().describe('archive progress; null if no archive is configured.'),
  gaps: z.array(GapShape).describe('last 20 ranges of missing heights, newest first.'),
  disagreements: describeField(
    Count,
    'number of conflicting copies of stored blocks since the log object started',
    '0',
    'two nodes disagree: compare them',
  ),
  wrongBooks: z
    .array(
      z.object({
        feeder: describeField(z.string(), 'name of the feeder'),
        coin: describeField(z.string(), 'coin of the book'),
        height: describeField(Height, 'height where it was last found'),
        count: describeField(Count, 'occurrences since the log object started'),
        atMs: describeField(Millis, 'time when it was last found, Unix ms'),
        why: describeField(
          z.enum(['other_copy', 'wrong_book']),
          '`other_copy`: its copy of a block differed from the accepted one; `wrong_book`: its data led to a book that differs from the node’s and was repaired',
          'no entry',
          'see "A feeder sent wrong books"',
        ),
      }),
    )
    .describe('books that feeders sent incorrectly, newest first, at most 64; empty if all is well.'),
  blocksSinceWake: describeField(Count, 'blocks accepted since the log object started'),
})
export type LogStatus = Frozen<z.infer<typeof LogShape>>

/** Full response of `GET /status`. */
export const StatusShape = z.object({
  ...LogShape.shape,
  lagMs: describeField(
    z.int().nullable(),
    'our clock minus `time`, ms; null while the log is empty',
    'under a second or two',
    'see `state`',
  ),
  ...SourcesShape.shape,
})
