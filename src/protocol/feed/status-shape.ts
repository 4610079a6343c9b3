// What `GET /status` answers, field by field: the types that the code is held by, the published schema and the table of
// docs/operators/reference/status.md are all made of this. Law: no addresses of hosts, no URLs; names are those that operators gave.

import * as z from 'zod'
import { describeField } from '../../core/field-description.ts'
import { REGIONS } from '../../core/variables.ts'
import { Height, Millis } from './block.ts'
import { FilesShape } from './files-shape.ts'
import { type Frozen, SourcesShape } from './sources-shape.ts'

/** How the feed stands; verdict.ts decides. */
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

/** Heights that never come, both ends included. */
export interface SkippedHeights {
  readonly from: number
  readonly to: number
}

/** Why heights never came, as `/status` tells. */
export const GAP_REASONS = ['files_gone', 'lines_missing', 'refused', 'seeded_above', 'reset'] as const
export type GapReason = (typeof GAP_REASONS)[number]

const Count = z.int().min(0)
const SEE_FEEDER_LOG = 'read the feeder’s own line'

/** A feeder that is connected, or was within the last day. */
const FeederShape = z.object({
  name: describeField(z.string(), 'its `--name`'),
  connected: describeField(z.boolean(), 'whether it has a connection now', '`true`', 'see `why`'),
  state: describeField(
    z.string().nullable(),
    'what it last said that it does; null before its first pulse',
    '`sending`',
    'see the states of a feeder',
  ),
  conflict: describeField(
    z.string().nullable(),
    'why nothing of it is taken',
    'null',
    'point it at the right node, or `feed reset`',
  ),
  sinceMs: describeField(Millis, 'when it greeted, Unix ms', 'long ago', 'it reconnects: see `counters.reconnects`'),
  heardMs: describeField(
    Millis,
    'when anything last came from it, Unix ms',
    'under 3 s ago',
    'it or its host stands still, or the way here is cut',
  ),
  blockMs: describeField(
    Millis.nullable(),
    'when a block last came from it, Unix ms; null before the first',
    'under a second ago',
    'its node stands still where `heardMs` is fresh',
  ),
  head: describeField(
    Height.nullable(),
    'the newest height that it told of; null where it has none',
    'grows, near `height`',
    'where it is ahead and stays so, a height between does not come',
  ),
  time: describeField(
    Millis.nullable(),
    'the node’s time of the newest block that it read, Unix ms; null where it has not told',
    'grows',
    'look at the node',
  ),
  lagMs: describeField(
    z.int().nullable(),
    'its clock minus `time` at its last pulse, ms',
    'under a second',
    'the node is late, or the clock of its host is wrong',
  ),
  clockMs: describeField(
    z.int().nullable(),
    'its clock minus ours when its last pulse came, ms',
    'within a second of 0',
    'set the clock of its host',
  ),
  endedMs: describeField(Millis.nullable(), 'when its connection ended, Unix ms; null while it has one'),
  why: describeField(z.string().nullable(), 'why its connection ended; null while it has one'),
  counters: z
    .object({
      unacked: describeField(
        Count,
        'blocks that it holds until they are durable here',
        'under about 30',
        SEE_FEEDER_LOG,
      ),
      reconnects: describeField(Count, 'connections after its first, since its start', 'rarely grows', SEE_FEEDER_LOG),
      misfits: describeField(Count, 'diffs that did not fit its books', '0', SEE_FEEDER_LOG),
      drifted: describeField(Count, 'books that differed from the node’s and were repaired', '0', SEE_FEEDER_LOG),
      gaps: describeField(Count, 'heights that it could not send', '0', SEE_FEEDER_LOG),
      refusedEvents: describeField(Count, 'events that it left out', '0', SEE_FEEDER_LOG),
      lateLines: describeField(Count, 'lines that came after their block was sent without them', '0', SEE_FEEDER_LOG),
      stallMs: describeField(
        Count,
        'the longest time of the second before its last pulse in which it did nothing else, ms',
        '0',
        SEE_FEEDER_LOG,
      ),
      stalls: describeField(Count, 'seconds with such a stall', 'rarely grows', SEE_FEEDER_LOG),
    })
    .nullable()
    .describe('what it counts since its start; null where it sends no pulses.'),
})
export type FeederView = Frozen<z.infer<typeof FeederShape>>

const ArchiveShape = z.object({
  height: describeField(
    Height.nullable(),
    'last height that is archived; null: none yet, or not heard since the log’s object woke',
    'grows by a minute of blocks each minute',
    'see `archive.failure`',
  ),
  behind: describeField(
    Count.nullable(),
    'heights that the log has and the archive has not; null where `height` is',
    'under two minutes of blocks',
    'see `archive.failure`',
  ),
  lagMs: describeField(
    Count.nullable(),
    'the same as time between blocks, ms',
    'under 90 s',
    'see `archive.failure`; beyond hours the log fills: see "The archive falls behind"',
  ),
  segments: describeField(Count.nullable(), 'segments in the archive', 'grows by one a minute'),
  checkpoint: z
    .object({
      height: describeField(Height, 'the least height of its books'),
      timeMs: describeField(Millis, 'the time of that block, Unix ms', 'within the last hour'),
    })
    .nullable()
    .describe('the last checkpoint of all books; null: none yet.'),
  failure: z
    .object({
      atMs: describeField(Millis, 'when, Unix ms', 'long ago'),
      words: describeField(z.string(), 'what went wrong: see "The archive falls behind"'),
    })
    .nullable()
    .describe('what went wrong last; null: nothing yet. It is tried again until it is done.'),
  files: FilesShape.nullable().describe(
    'files made of the archive, out of which rows of users are answered; null: not heard of since the log’s object woke.',
  ),
})
export type ArchiveView = Frozen<z.infer<typeof ArchiveShape>>

const GapShape = z.object({
  from: describeField(Height, 'first height that never came'),
  to: describeField(Height, 'last height that never came'),
  why: describeField(z.enum(GAP_REASONS), 'why', '', 'see "A gap was recorded"'),
  atMs: describeField(Millis, 'when it was recorded, Unix ms'),
})
export type Gap = Frozen<z.infer<typeof GapShape>>

/** What the log tells of itself. */
const LogShape = z.object({
  state: describeField(z.enum(FEED_STATES), 'how the feed stands, in one word', '`live`', 'do what `advice` says'),
  advice: describeField(z.string(), 'the same as a sentence that says what to do'),
  chain: describeField(z.string(), 'name of the chain'),
  feedRegion: describeField(
    z.enum(REGIONS).nullable(),
    'where log and hubs are asked to be made: `FEED_REGION`; null: where they were first asked for',
    'near the node',
    'see "Place"',
  ),
  epoch: describeField(
    z.string().nullable(),
    'the unbroken chain of books; null before the first books',
    'changes only when books begin anew',
    'see `gaps`',
  ),
  height: describeField(
    Height.nullable(),
    'last height that the log has taken; null while it is empty',
    'grows with the exchange',
    'see `state`',
  ),
  durable: describeField(
    Height.nullable(),
    'last height that is stored',
    'within about a second of `height`',
    'look at the log of `weir-live`',
  ),
  time: describeField(Millis.nullable(), 'the node’s time of the last block, Unix ms; null while the log is empty'),
  blockMs: describeField(
    Millis.nullable(),
    'when the last block was taken, Unix ms; null since the log’s object woke',
    'under a second ago',
    'see `state`',
  ),
  booksKnown: describeField(
    z.boolean(),
    'false from a block without known changes to the next whole books',
    '`true`',
    'see "Books are not known"',
  ),
  feeders: z
    .array(FeederShape)
    .describe('feeders that are connected, then those that left in the last day, at most 8.'),
  readers: z
    .array(
      z.object({
        name: describeField(
          z.string(),
          'hub or relay',
          'as many hubs as `BOOK_HUBS`',
          'see "A single hub is without books"',
        ),
        height: describeField(
          Height.nullable(),
          'last height that it was sent; null before the first',
          'near `height`',
          'see "Readers fall behind"',
        ),
      }),
    )
    .describe('hubs and relays that follow the log.'),
  regions: z
    .array(
      z.object({
        region: describeField(z.string(), 'of relays; `local` where the platform says no place'),
        relays: describeField(Count, 'relays that sent blocks in the last minutes'),
        sockets: describeField(Count, 'sockets of clients that they have'),
        p50Ms: describeField(
          Count,
          'how old half of the blocks were at most when they were sent, ms; at most a tenth too high',
          'near `lagMs` of the feeders, and the way from the node',
          'see "Place"',
        ),
        p99Ms: describeField(Count, 'the same of 99 in 100 blocks', 'below three times `p50Ms`', 'see "Place"'),
      }),
    )
    .describe('ages of blocks by region: what relays counted in their last minute.'),
  archive: ArchiveShape.nullable().describe('how far the archive is; null where none is set up.'),
  gaps: z.array(GapShape).describe('the last 20 stretches of heights that never came, newest first.'),
  disagreements: describeField(
    Count,
    'copies of a held height that differed, since the log woke',
    '0',
    'two nodes tell different stories: compare them',
  ),
  wrongBooks: z
    .array(
      z.object({
        feeder: describeField(z.string(), 'who sent it'),
        coin: describeField(z.string(), 'whose book'),
        height: describeField(Height, 'where it was last found'),
        count: describeField(Count, 'how often, since the log woke'),
        atMs: describeField(Millis, 'when it was last found, Unix ms'),
        why: describeField(
          z.enum(['other_copy', 'wrong_book']),
          '`other_copy`: its copy of a block was not the one that was taken; `wrong_book`: what was taken of it led to a book that is not the node’s, which was repaired',
          'no entry',
          'see "A feeder sent wrong books"',
        ),
      }),
    )
    .describe('books that feeders sent otherwise than they are, newest first, at most 64; none where all is well.'),
  blocksSinceWake: describeField(Count, 'blocks taken since the log’s object woke'),
})
export type LogStatus = Frozen<z.infer<typeof LogShape>>

/** The whole answer of `GET /status`. */
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
