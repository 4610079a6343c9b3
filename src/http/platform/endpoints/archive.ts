// What the operator does with the log and the archive: begins anew, fills in older blocks, removes what is too old.

import * as z from 'zod'
import { BackfillText, MAX_BACKFILL_BYTES } from '../../../archive/archive/backfill-lines.ts'
import { ARCHIVE_PRODUCTS, type RetentionDays } from '../../../archive/archive/retention.ts'
import { err } from '../../../core/result.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { Height } from '../../../protocol/feed/block.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { NO_ARCHIVE } from '../refusal.ts'
import { BlockHeight, Bytes, NO_HISTORY, Objects } from './history.ts'

const resetFeed = defineEndpoint({
  id: 'resetFeed',
  route: 'POST /admin/feed/reset',
  summary: 'Begin a new log, for a node that started over',
  description: 'Books and heights begin anew and clients bootstrap again; accounts and keys stay.',
  responses: okResponse('The log is empty', z.object({ reset: z.literal(true).describe('The log is empty') })),
  handle: async (_, { log }) => {
    await log().reset()
    return reply(200, { reset: true })
  },
})

const HeightText = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a height, in digits alone')
  .transform(Number)

const BlockPosition = z
  .object({ height: Height.describe('Height of the block'), time: UnixMs.describe('Its time, Unix milliseconds') })
  .nullable()

const Gap = z.object({
  from: Height.describe('First height that is missing'),
  to: Height.describe('Last height that is missing'),
  after_ms: UnixMs.describe('Time of the block before, Unix milliseconds'),
  before_ms: UnixMs.describe('Time of the block behind, Unix milliseconds'),
})

const showBackfill = defineEndpoint({
  id: 'showBackfill',
  route: 'GET /admin/history/backfill',
  summary: 'What the archive has, for who fills it with what is older',
  description:
    'All heights from `from` up to `before` are there, but for those of `gaps`, of which an answer has 1,000.',
  query: z.strictObject({
    after: HeightText.optional().describe('Gaps from this height on: `next` of the last answer'),
  }),
  responses: okResponse(
    'What there is',
    z.object({
      chain: z.string().describe('Name of the chain'),
      from: BlockPosition.describe('The first block of all; null where there is none'),
      before: BlockPosition.describe('The first block that the log archived: older ones are taken; null: none are yet'),
      gaps: z.array(Gap).describe('Heights below `before` that are missing, in order'),
      next: Height.nullable().describe('The `after` of the next answer; null: these were all gaps'),
    }),
    {
      from: { height: 985148182, time: 1778002753024 },
      before: { height: 1030773868, time: 1781139602896 },
      gaps: [{ from: 985149000, to: 1030773867, after_ms: 1778002807000, before_ms: 1781139602896 }],
    },
  ),
  handle: async ({ query: { after = 0 } }, { archive }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const { gaps, ...state } = await archive.state(after)
    const told = gaps.map(({ from, to, afterMs, beforeMs }) => ({ from, to, after_ms: afterMs, before_ms: beforeMs }))
    return reply(200, { chain: archive.chain, ...state, gaps: told })
  },
})

const NO_ARCHIVED_BLOCK =
  'the log has archived no block here yet, and what is older than its first is unknown: start a feeder, and send this a minute later'

const archiveFull = (bytes: number, most: number) =>
  `the archive has ${Math.round(bytes / 1e6)} of the ${Math.round(most / 1e6)} MB that ARCHIVE_KEEP_MB lets it keep, and what is oldest goes first: raise it, deploy, and send this again`

const backfill = defineEndpoint({
  id: 'backfill',
  route: 'POST /admin/history/backfill',
  summary: 'Put blocks that are older than the archive into it',
  description:
    'The body is gzip of lines of events as the archive has them, in order of height, a block each: at most 20 MiB unpacked, and 100,000 heights from the first to the last. Heights that are there, or that the log archives itself, are passed over; those that are left out are gaps. Nothing of a body with a bad line is taken.',
  body: {
    schema: BackfillText,
    optional: false,
    example:
      '{"only":"fills","epoch":null,"v":1,"t":"events","height":985148182,"time":1778002753024,"fills":[],"ledger":[],"funding":[]}',
    gzipBytes: MAX_BACKFILL_BYTES,
  },
  responses: okResponse(
    'What is new by it',
    z.object({
      blocks: z.int().describe('Blocks that were not there'),
      segments: z.int().describe('Segments that they make'),
      bytes: z.int().describe('What these take'),
      next: Height.nullable().describe('Blocks from this height on are to be sent again; null: none'),
    }),
    { blocks: 888, segments: 1, bytes: 210000 },
  ),
  refusals: [409],
  handle: async ({ body: blocks }, { archive }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const answer = await archive.backfill(blocks)
    if (!('refused' in answer)) return reply(200, answer)
    const message = answer.refused === 'empty' ? NO_ARCHIVED_BLOCK : archiveFull(answer.bytes, answer.mostBytes)
    return err({ kind: 'conflict', message })
  },
})

const DAYS_MOST = 36_500
const Days = z
  .union(
    [z.literal('none').transform(() => null), wholeNumber(1, DAYS_MOST)],
    `must be a whole number from 1 to ${DAYS_MOST}, or none`,
  )
  .optional()
const daysOverride = (variable: string) => Days.describe(`Days in place of \`${variable}\`; \`none\`: for good`)
const DaysView = z.int().nullable().describe('Days that this product is kept; null: for good')

const OverdueProduct = z
  .object({
    product: z.enum(ARCHIVE_PRODUCTS).describe('What goes: lines of segments, or checkpoints'),
    days: DaysView,
    objects: Objects.describe('Files that would go'),
    bytes: Bytes,
    from_height: BlockHeight.nullable().describe('First block of what would go; null: nothing would'),
    to_height: BlockHeight.nullable().describe('Last block of it; null: nothing would'),
    from_ms: UnixMs.nullable().describe('Time of the first, Unix milliseconds; null: nothing would'),
    to_ms: UnixMs.nullable().describe('Time of the last, Unix milliseconds; null: nothing would'),
  })
  .meta({ id: 'RetentionDue' })

const showRetention = defineEndpoint({
  id: 'showRetention',
  route: 'GET /admin/history/retention',
  summary: 'What of the archive would be removed by age, and nothing is',
  description:
    'Ages are counted back from the newest archived block. Days may be tried before they are set as variables. ' +
    'Beyond `ARCHIVE_KEEP_MB` the oldest segments go besides.',
  query: z.strictObject({
    events_days: daysOverride('ARCHIVE_KEEP_EVENTS_DAYS'),
    books_days: daysOverride('ARCHIVE_KEEP_BOOKS_DAYS'),
    checkpoints_days: daysOverride('ARCHIVE_KEEP_CHECKPOINTS_DAYS'),
  }),
  responses: okResponse(
    'What would go',
    z.object({
      bytes: Bytes.describe('All that is archived'),
      most_bytes: Bytes.nullable().describe('The bound of `ARCHIVE_KEEP_MB`; null: none'),
      due: z.array(OverdueProduct).describe('Of each product'),
    }),
    {
      bytes: 5242880000,
      due: [{ product: 'books', days: 30, objects: 1440, bytes: 4294967296, to_ms: 1790086399931 }],
    },
  ),
  handle: async (
    { query: { events_days: events, books_days: books, checkpoints_days: checkpoints } },
    { retention },
  ) => {
    const said = Object.entries({ events, books, checkpoints }).filter(([, days]) => days !== undefined)
    const plan = await retention().overdue(Object.fromEntries(said) as Partial<RetentionDays>)
    if (plan === null) return err(NO_HISTORY)
    const due = plan.due.map(({ product, objects, bytes, first, last, firstMs, lastMs }) => ({
      product,
      days: plan.kept.days[product],
      objects,
      bytes,
      from_height: first,
      to_height: last,
      from_ms: firstMs,
      to_ms: lastMs,
    }))
    return reply(200, { bytes: plan.bytes, most_bytes: plan.kept.mostBytes, due })
  },
})

const applyRetention = defineEndpoint({
  id: 'applyRetention',
  route: 'POST /admin/history/retention',
  summary: 'Remove at most 64 files of the archive that are older than their product is kept',
  description:
    'The archive does the same by itself, once a minute. Again until `objects` is 0 removes all at once, such as after ' +
    'days were set for the first time.',
  responses: okResponse(
    'What was removed',
    z.object({ objects: Objects.describe('Files that were removed; 0: no more is due'), bytes: Bytes }),
    { objects: 64, bytes: 190840832 },
  ),
  handle: async (_, { retention }) => {
    const freed = await retention().retain()
    return freed === null ? err(NO_HISTORY) : reply(200, { objects: freed.objects, bytes: freed.bytes })
  },
})

export const ARCHIVE = [resetFeed, showBackfill, backfill, showRetention, applyRetention]
