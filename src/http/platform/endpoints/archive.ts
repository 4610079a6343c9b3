// Operator endpoints for the block log and the archive: reset, backfill and retention.

import * as z from 'zod'
import { ATTEMPT_OUTCOMES } from '../../../archive/archive/backfill-api.ts'
import { MAX_BACKFILL_BYTES, readBackfill } from '../../../archive/archive/backfill-lines.ts'
import { ARCHIVE_PRODUCTS, type RetentionDays } from '../../../archive/archive/retention.ts'
import { inGroups } from '../../../core/digit-groups.ts'
import { err } from '../../../core/result.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { Height } from '../../../protocol/feed/block.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { badField, NO_ARCHIVE } from '../refusal.ts'
import { BlockHeight, Bytes, NO_HISTORY, Objects } from './history.ts'

const resetFeed = defineEndpoint({
  id: 'resetFeed',
  route: 'POST /admin/feed/reset',
  summary: 'Reset the block log, for a node that restarted its chain',
  description: 'Order books and heights restart, and clients load new snapshots. Accounts and keys are not affected.',
  responses: okResponse(
    'The log is now empty',
    z.object({ reset: z.literal(true).describe('Whether the log was reset; always true') }),
  ),
  handle: async (_, { log }) => {
    await log().reset()
    return reply(200, { reset: true })
  },
})

const HeightText = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a block height, digits only')
  .transform(Number)

const BlockPosition = z
  .object({ height: Height.describe('Block height'), time: UnixMs.describe('Block time, Unix milliseconds') })
  .nullable()

/** Long enough for the URL of a gateway or a bucket. */
const MAX_SOURCE_CHARS = 120
const MAX_MESSAGE_CHARS = 500
const SourceName = z
  .string()
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII text')
  .max(MAX_SOURCE_CHARS)
  .describe('Name of the source of blocks, such as a host or a bucket')
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits')
const Outcome = z
  .enum(ATTEMPT_OUTCOMES)
  .describe(
    '`absent`: the source lacks the heights; `partial`: it has some of them; `refused`: its blocks contradict the archive; `failed`: it could not be read',
  )

const Attempt = z.object({
  source: z.string().describe('Name of the source'),
  outcome: Outcome,
  message: z.string().describe('Details'),
  tries: z.int().describe('Number of attempts'),
  at_ms: UnixMs.describe('Time of the last attempt, Unix milliseconds'),
})

const Gap = z.object({
  from: Height.describe('First missing height'),
  to: Height.describe('Last missing height'),
  after_ms: UnixMs.describe('Time of the block before the gap, Unix milliseconds'),
  before_ms: UnixMs.describe('Time of the block after the gap, Unix milliseconds'),
  recorded_ms: UnixMs.nullable().describe(
    'Time when the log skipped these heights, Unix milliseconds; null: a gap among imported blocks',
  ),
  beyond_ms: UnixMs.nullable().describe(
    'Time when no source was left that could have these heights, Unix milliseconds; null: it can still be repaired',
  ),
  attempts: z.array(Attempt).describe('Last attempt of each source'),
})

const showBackfill = defineEndpoint({
  id: 'showBackfill',
  route: 'GET /admin/history/backfill',
  summary: 'Show the archived range and its gaps, to plan a backfill or a repair',
  description:
    'The archive has every height from `from` up to, but not including, `before`, except those in `gaps` (1,000 per page).',
  query: z.strictObject({
    after: HeightText.optional().describe(
      'Only gaps at or above this height; the value of `next` from the previous page',
    ),
  }),
  responses: okResponse(
    'The archived range',
    z.object({
      chain: z.string().describe('Name of the chain'),
      from: BlockPosition.describe('First archived block; null: none'),
      before: BlockPosition.describe(
        'First height that is not archived yet, and the time of the block below it; missing blocks below it can be imported; null: none yet',
      ),
      gaps: z.array(Gap).describe('Missing heights below `before`, in ascending order'),
      next: Height.nullable().describe('Value of `after` for the next page; null: last page'),
      now_ms: UnixMs.describe('Time of this response, Unix milliseconds, from the clock of all other times'),
    }),
    {
      from: { height: 985148182, time: 1778002753024 },
      before: { height: 1030773868, time: 1781139602896 },
      gaps: [
        {
          from: 985149000,
          to: 985149999,
          after_ms: 1778002807000,
          before_ms: 1778002875000,
          beyond_ms: null,
          attempts: [],
        },
      ],
      now_ms: 1781139663000,
    },
  ),
  handle: async ({ query: { after = 0 } }, { archive, now }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const { gaps, ...state } = await archive.state(after)
    const rows = gaps.map(({ from, to, afterMs, beforeMs, recordedMs, beyondMs, attempts }) => ({
      from,
      to,
      after_ms: afterMs,
      before_ms: beforeMs,
      recorded_ms: recordedMs,
      beyond_ms: beyondMs,
      attempts: attempts.map(({ atMs, ...attempt }) => ({ ...attempt, at_ms: atMs })),
    }))
    return reply(200, { chain: archive.chain, ...state, gaps: rows, now_ms: now() })
  },
})

const BUSY_RETRY_MS = 5_000
const NO_ARCHIVED_BLOCK = 'no block is archived yet. Start a feeder and retry a minute later'

const archiveFull = (bytes: number, most: number) =>
  `the archive uses ${Math.round(bytes / 1e6)} of ${Math.round(most / 1e6)} MB (ARCHIVE_KEEP_MB) and would remove the imported blocks first, because they are the oldest. Raise ARCHIVE_KEEP_MB, deploy and retry`

const backfill = defineEndpoint({
  id: 'backfill',
  route: 'POST /admin/history/backfill',
  summary: 'Import blocks that the archive lacks',
  description:
    'The body is gzipped event lines in archive format, one block per line, ordered by height. The limits are 20 MiB unpacked, and 100,000 heights from first to last. Archived heights are compared and skipped; missing heights become gaps. `books` of a line has the epoch and the changes of the books, if they continue the archived books. If any line is invalid, or the blocks contradict the archived ones, the entire body is rejected.',
  query: z.strictObject({
    source: SourceName.default('import'),
    checkpoint: Sha256.optional().describe(
      'SHA-256 of a file sent to `POST /admin/history/checkpoints`: all books after the last block',
    ),
  }),
  body: {
    schema: z.string(),
    optional: false,
    example:
      '{"only":"fills","epoch":null,"v":1,"t":"events","height":985148182,"time":1778002753024,"fills":[],"ledger":[],"funding":[]}',
    gzipBytes: MAX_BACKFILL_BYTES,
  },
  responses: okResponse(
    'The imported blocks',
    z.object({
      blocks: z.int().describe('New blocks'),
      segments: z.int().describe('New segments'),
      bytes: z.int().describe('Bytes of the new segments'),
      next: Height.nullable().describe('Height from which the blocks must be sent again; null: none'),
    }),
    { blocks: 888, segments: 1, bytes: 210000 },
  ),
  refusals: [409, 503],
  handle: async ({ body, query: { source, checkpoint = null } }, { archive, inTurns }) => {
    const read = await inTurns(readBackfill(body))
    if (!read.ok) {
      const { line, field, message } = read.error
      return err(badField([`line ${line}`, ...(field === '' ? [] : [field])].join('.'), message))
    }
    if (archive === null) return err(NO_ARCHIVE)
    const result = await archive.backfill({ blocks: read.value, source, checkpoint })
    if (!('refused' in result)) return reply(200, result)
    if (result.refused === 'contradiction')
      return err(badField('body', `contradicts the archive: ${result.reason}. Use a different source`))
    if (result.refused === 'busy') return err({ kind: 'unavailable', what: 'The archive', retryAfterMs: BUSY_RETRY_MS })
    const message = result.refused === 'empty' ? NO_ARCHIVED_BLOCK : archiveFull(result.bytes, result.maxBytes)
    return err({ kind: 'conflict', message })
  },
})

/** All books of mainnet have about 8 MB. */
const MAX_CHECKPOINT_BYTES = 64 * 1024 * 1024

const uploadCheckpoint = defineEndpoint({
  id: 'uploadCheckpoint',
  route: 'POST /admin/history/checkpoints',
  summary: 'Upload all books after a missing block',
  description:
    'The body is a checkpoint file, as `schemas/storage.md` describes it. It counts once `POST /admin/history/backfill` imports the blocks up to its height and names it in `checkpoint`. Until then, another upload replaces it.',
  query: z.strictObject({
    height: HeightText.describe('Height of the books, which must not be archived yet'),
    bytes: wholeNumber(1, MAX_CHECKPOINT_BYTES).describe('Length of the body'),
    sha256: Sha256.describe('SHA-256 of the body, in hex'),
  }),
  body: {
    schema: z.unknown().describe('Gzipped lines') as z.ZodType<AsyncIterable<Uint8Array>>,
    optional: false,
    example: '{"epoch":"5f0c1d9e-3a52-4c39-9d5f-0b8d6f7a1c11","height":985149599,"time":1778002840000,"coins":1,…}',
    isBinary: true,
  },
  responses: okResponse(
    'The file is stored',
    z.object({ stored: z.literal(true).describe('Whether the file was stored; always true') }),
  ),
  refusals: [409],
  handle: async ({ body, query }, { archive }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const result = await archive.uploadCheckpoint(query, body)
    if (result === 'altered')
      return err(badField('body', 'does not have the length or the hash of the URL. Send it again'))
    const message = `block ${query.height} is archived, and archived books never change. Read the gaps again`
    return result === 'stored' ? reply(200, { stored: true }) : err({ kind: 'conflict', message })
  },
})

const recordRepairAttempt = defineEndpoint({
  id: 'recordRepairAttempt',
  route: 'POST /admin/history/attempts',
  summary: 'Record that a source could not fill a gap',
  description: '`npx weir repair` records its attempts, so that every program and page knows them.',
  body: {
    schema: z.strictObject({
      from: Height.describe('First missing height of the gap'),
      to: Height.describe('Last missing height of the gap'),
      source: SourceName,
      outcome: Outcome,
      message: z.string().max(MAX_MESSAGE_CHARS).describe('Details'),
      beyond_repair: z.boolean().describe('Whether no source is left that could have these heights'),
    }),
    optional: false,
    example: {
      from: 985149000,
      to: 985149999,
      source: 'node',
      outcome: 'absent',
      message: 'no such block',
      beyond_repair: false,
    },
  },
  responses: okResponse(
    'The attempt was recorded',
    z.object({ recorded: z.literal(true).describe('Whether the attempt was recorded; always true') }),
  ),
  refusals: [409],
  handle: async ({ body: { beyond_repair: isBeyond, ...attempt } }, { archive, now }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const isGap = await archive.recordAttempt({ ...attempt, atMs: now(), isBeyond })
    const message = `heights ${attempt.from} to ${attempt.to} are not a gap of the archive (anymore). Read the gaps again`
    return isGap ? reply(200, { recorded: true }) : err({ kind: 'conflict', message })
  },
})

const MAX_DAYS = 36_500
const Days = z
  .union(
    [z.literal('none').transform(() => null), wholeNumber(1, MAX_DAYS)],
    `must be an integer from 1 to ${inGroups(MAX_DAYS)}, or none`,
  )
  .optional()
const daysOverride = (variable: string) =>
  Days.describe(`Retention in days to preview instead of \`${variable}\`; \`none\`: no limit`)
const DaysView = z.int().nullable().describe('Retention in days; null: no limit')

const OverdueProduct = z
  .object({
    product: z.enum(ARCHIVE_PRODUCTS).describe('Data to remove: event or book lines of segments, or checkpoints'),
    days: DaysView,
    objects: Objects.describe('Files to remove'),
    bytes: Bytes,
    from_height: BlockHeight.nullable().describe('First block to remove; null: none'),
    to_height: BlockHeight.nullable().describe('Last block to remove; null: none'),
    from_ms: UnixMs.nullable().describe('Time of the first block, Unix milliseconds; null: none'),
    to_ms: UnixMs.nullable().describe('Time of the last block, Unix milliseconds; null: none'),
  })
  .meta({ id: 'RetentionDue' })

const showRetention = defineEndpoint({
  id: 'showRetention',
  route: 'GET /admin/history/retention',
  summary: 'Preview what retention would remove',
  description:
    'Age is measured from the newest archived block. The parameters preview different retention periods without changing the settings. If the archive exceeds `ARCHIVE_KEEP_MB`, its oldest segments are removed too.',
  query: z.strictObject({
    events_days: daysOverride('ARCHIVE_KEEP_EVENTS_DAYS'),
    books_days: daysOverride('ARCHIVE_KEEP_BOOKS_DAYS'),
    checkpoints_days: daysOverride('ARCHIVE_KEEP_CHECKPOINTS_DAYS'),
  }),
  responses: okResponse(
    'The preview',
    z.object({
      bytes: Bytes.describe('Total bytes archived'),
      most_bytes: Bytes.nullable().describe('Limit from `ARCHIVE_KEEP_MB`; null: none'),
      due: z.array(OverdueProduct).describe('Data to remove by product'),
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
    const given = Object.entries({ events, books, checkpoints }).filter(([, days]) => days !== undefined)
    const plan = await retention?.().overdue(Object.fromEntries(given) as Partial<RetentionDays>)
    if (!plan) return err(NO_HISTORY)
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
    return reply(200, { bytes: plan.bytes, most_bytes: plan.kept.maxBytes, due })
  },
})

const applyRetention = defineEndpoint({
  id: 'applyRetention',
  route: 'POST /admin/history/retention',
  summary: 'Remove up to 64 expired files from the archive',
  description:
    'The archive does this automatically once a minute. To remove everything immediately, for example after setting retention for the first time, repeat until `objects` is 0.',
  responses: okResponse(
    'The removed files',
    z.object({ objects: Objects.describe('Removed files; 0: nothing left to remove'), bytes: Bytes }),
    { objects: 64, bytes: 190840832 },
  ),
  handle: async (_, { retention }) => {
    const freed = await retention?.().retain()
    return !freed ? err(NO_HISTORY) : reply(200, { objects: freed.objects, bytes: freed.bytes })
  },
})

export const ARCHIVE = [
  resetFeed,
  showBackfill,
  backfill,
  uploadCheckpoint,
  recordRepairAttempt,
  showRetention,
  applyRetention,
]
