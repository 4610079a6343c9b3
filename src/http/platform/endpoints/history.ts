// Coverage and gaps of a chain's history, and what the history endpoints share: chain, time range and file fields.

import * as z from 'zod'
import type { CoveredPeriod, Exports } from '../../../archive/exports/exports-api.ts'
import type { FileSource, TimeRange } from '../../../archive/exports/file-list.ts'
import { inGroups } from '../../../core/digit-groups.ts'
import type { Failure } from '../../../core/failure.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import { DAY_MS, HOUR_MS } from '../../../core/time.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { ONE_CREDIT } from '../../../metering/tariff.ts'
import type { HeightAndTime } from '../../../protocol/feed/durable-api.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { nextCursor, UnixMs } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import { badField } from '../refusal.ts'
import { Day, dayText, startOf } from '../usage-window.ts'

/** Maximum window of one request, about 130,000 minutes. */
const WINDOW_DAYS = 92
const DEFAULT_DAYS = 31
/** The last millisecond of the year 9999. */
const LAST_MS = 253_402_300_799_999
/** Maximum length of a name echoed in an error. */
const NAME_MAX_LENGTH = 32

export const CHAIN_PARAMS = { chain: z.string().describe('Name of the chain, such as `hyperliquid`') }
export const NO_HISTORY: Failure = { kind: 'not_found', what: 'This archive', hint: 'This gateway has no archive.' }

/** Failure for a chain that is not the gateway's. */
export function unknownChain(chain: string, platform: Platform): Failure {
  const requested = JSON.stringify(chain.slice(0, NAME_MAX_LENGTH))
  const own = JSON.stringify(platform.chain)
  const hint = `The chain ${requested} does not exist. This gateway serves ${own}.`
  return { kind: 'not_found', what: 'This chain', hint }
}

/** History of this chain, or why it is unavailable. */
export function historyOf(chain: string, platform: Platform): Result<Exports, Failure> {
  if (chain !== platform.chain) return err(unknownChain(chain, platform))
  return platform.exports ? ok(platform.exports) : err(NO_HISTORY)
}

const PRODUCT_NAMES =
  '`events`, `books`, `checkpoints`, and as Parquet `fills_by_user`, `fills_by_time` (two rows per trade, one per side), `ledger_by_user`, `candles_by_coin`, `positions_by_coin` (open positions at the end of each day), `funding_by_user`, `oracle_updates_by_time`, `writer_actions_by_time`'
export const FileProduct = z.string().describe(`One of ${PRODUCT_NAMES}`)
export const BlockHeight = z.int().describe('Block height')
export const Bytes = z.int().describe('Compressed size in bytes')
export const Objects = z.int().describe('Number of files')
export const NEXT = z.string().nullable().describe('Cursor for the next page; null: last page')

const UnixMsText = wholeNumber(0, LAST_MS)

export const WINDOW = {
  day: Day.optional().describe('UTC date; cannot be combined with `from` and `to`'),
  from: UnixMsText.optional().describe('Start, Unix milliseconds, inclusive'),
  to: UnixMsText.optional().describe('End, Unix milliseconds, inclusive; default: now'),
}

export const PRODUCTS = {
  products: z.string().optional().describe(`Comma-separated list of ${PRODUCT_NAMES}; default: all`),
}

/** Parameter for the page size. */
export const limitOf = (max: number, usual: number) =>
  wholeNumber(1, max)
    .default(usual)
    .describe(`Maximum rows per page, up to ${inGroups(max)}; default ${usual}`)

interface RangeQuery {
  readonly day?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/**
 * Time range of a request. If `from` is absent, the range is the last month. If `isNeeded`, the request is rejected
 * instead.
 */
export function rangeOf({ day, from, to }: RangeQuery, nowMs: number, isNeeded: boolean): Result<TimeRange, Failure> {
  if (day !== undefined) {
    if (from !== undefined || to !== undefined) return err(badField('day', 'cannot be combined with "from" and "to"'))
    return ok({ fromMs: startOf(day), toMs: startOf(day) + DAY_MS - 1 })
  }
  const toMs = to ?? nowMs
  if (from === undefined && isNeeded) return err(badField('from', 'is required unless "day" is given'))
  const fromMs = from ?? Math.max(0, Math.floor(toMs / DAY_MS) - DEFAULT_DAYS + 1) * DAY_MS
  if (fromMs > toMs) return err(badField('from', `must not be after ${to === undefined ? 'now' : '"to"'}`))
  if (toMs - fromMs >= WINDOW_DAYS * DAY_MS) return err(badField('from', `must be within ${WINDOW_DAYS} days of "to"`))
  return ok({ fromMs, toMs })
}

/** Requested products, in catalog order. */
export function sourcesOf(
  products: string | undefined,
  sources: readonly FileSource[],
): Result<readonly FileSource[], Failure> {
  if (products === undefined) return ok(sources)
  const requested = products.split(',')
  const names = sources.map(({ product }) => product)
  if (!requested.every((name) => names.includes(name)))
    return err(badField('products', `must be a comma-separated list of ${names.join(', ')}`))
  return ok(sources.filter(({ product }) => requested.includes(product)))
}

/** First and last block of a file or gap. */
export const SPAN = {
  from_height: BlockHeight.describe('First block'),
  to_height: BlockHeight.describe('Last block'),
  from_ms: UnixMs.describe('Time of the first block, Unix milliseconds'),
  to_ms: UnixMs.describe('Time of the last block, Unix milliseconds'),
}

const SUMS = {
  segments: z
    .int()
    .describe('Number of segments, each about a minute long; a segment belongs to the day of its first block'),
  blocks: z.int().describe('Number of blocks'),
  events_bytes: Bytes.describe('Compressed size of the events that are still archived'),
  books_bytes: Bytes.describe('Compressed size of the order book changes that are still archived'),
  checkpoints: z.int().describe('Number of checkpoints, each with all order books at one height'),
  checkpoints_bytes: Bytes.describe('Compressed size of the checkpoints'),
}
const BlockPosition = z.object({ height: BlockHeight, time_ms: UnixMs }).nullable()
const MAX_HOLES = 1_000
const Hole = z.object({
  from_height: BlockHeight.describe('First block'),
  to_height: BlockHeight.describe('Last block'),
  known: z.enum(['nothing', 'fills']).describe('Available data: `fills` means fills without ledger and funding'),
})

const MAX_REPAIRS = 100
const RepairView = z.object({
  from_height: BlockHeight.describe('First block'),
  to_height: BlockHeight.describe('Last block'),
  known: z.enum(['events', 'fills']).describe('Data that the source had: all events, or only fills'),
  books: z.boolean().describe('Whether the source also had the changes of the order books, so that they are known'),
  source: z.string().describe('Name of the source'),
  at_ms: UnixMs.describe('Time of the repair, Unix milliseconds'),
  from_ms: UnixMs.nullable().describe(
    'Time of the blocks, to the minute: the start of the segment with the first block, Unix milliseconds; null: no longer archived',
  ),
})

const Coverage = z
  .object({
    chain: z.string().describe('Name of the chain'),
    from: BlockPosition.describe('First archived block; null: none yet'),
    to: BlockPosition.describe('Last archived block; newer blocks are not archived yet'),
    files: z
      .object({
        from: BlockPosition.describe('First block in files; null: none yet'),
        to: BlockPosition.describe('Last block in files; null: none yet'),
        holes: z
          .array(Hole)
          .describe(
            `Missing or incomplete blocks between \`from\` and \`to\`: the newest ${inGroups(MAX_HOLES)}, in ascending order`,
          ),
      })
      .describe('Coverage of the files that `POST /info` reads for users, builders and coins'),
    repairs: z
      .array(RepairView)
      .describe(
        `Blocks that were missing and came from a different source: the last ${MAX_REPAIRS} repairs, newest first`,
      ),
    totals: z.object(SUMS).describe('Totals of the days below'),
    days: z
      .array(
        z.object({
          day: Day,
          from_height: BlockHeight.describe('First block of the day’s segments'),
          to_height: BlockHeight.describe('Last block of the day’s segments'),
          ...SUMS,
        }),
      )
      .describe('Days of the range that have data'),
    hours: z
      .array(
        z.object({
          hour: z.int().min(0).max(23).describe('UTC hour of the day'),
          from_height: BlockHeight.describe('First block of the hour’s segments'),
          to_height: BlockHeight.describe('Last block of the hour’s segments'),
          ...SUMS,
        }),
      )
      .nullable()
      .describe('Hours that have data, if the request names a `day`; otherwise null'),
  })
  .meta({ id: 'HistoryCoverage' })

const historyCoverage = defineEndpoint({
  id: 'historyCoverage',
  route: 'GET /v1/{chain}/history/coverage',
  summary: 'Show the archived history of a chain by UTC day',
  description:
    'The default range is the last 31 days; the maximum is 92 days. With `day`, the response also lists its hours.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: CHAIN_PARAMS,
  query: z.strictObject(WINDOW),
  responses: okResponse('The coverage', Coverage, {
    from: { height: 845000000, time_ms: 1790000000000 },
    to: { height: 1034172800, time_ms: 1800000000000 },
    files: {
      from: { height: 845000000, time_ms: 1790000000000 },
      to: { height: 1034171900, time_ms: 1799999930000 },
      holes: [{ from_height: 925001000, to_height: 925001004 }],
    },
    repairs: [
      {
        from_height: 930000100,
        to_height: 930012000,
        known: 'fills',
        books: false,
        source: 'tokyo',
        at_ms: 1799990000000,
        from_ms: 1795000000000,
      },
    ],
  }),
  handle: async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const range = rangeOf(query, platform.now(), false)
    if (!range.ok) return range
    const { value } = history
    const [ends, days, hours, files, repairs] = await Promise.all([
      value.ends(),
      value.periods(range.value, 'day'),
      query.day === undefined ? null : value.periods(range.value, 'hour'),
      value.files(),
      value.repairs(MAX_REPAIRS),
    ])
    const total = (name: Exclude<keyof CoveredPeriod, 'startMs' | 'first' | 'last'>) =>
      days.reduce((sum, day) => sum + day[name], 0)
    const body = {
      chain,
      ...endsOf(ends),
      files: {
        ...endsOf(files),
        holes: (files?.gaps ?? []).slice(-MAX_HOLES).map(({ from, to, known }) => {
          return { from_height: from, to_height: to, known: known ?? ('nothing' as const) }
        }),
      },
      repairs: repairs.map(({ from, to, known, hasBooks, source, atMs, nearMs }) => {
        return { from_height: from, to_height: to, known, books: hasBooks, source, at_ms: atMs, from_ms: nearMs }
      }),
      totals: {
        segments: total('segments'),
        blocks: total('blocks'),
        events_bytes: total('eventsBytes'),
        books_bytes: total('booksBytes'),
        checkpoints: total('checkpoints'),
        checkpoints_bytes: total('checkpointsBytes'),
      },
      days: days.map((day) => ({ day: dayText(day.startMs), ...viewOf(day) })),
      hours: hours?.map((hour) => ({ hour: (hour.startMs % DAY_MS) / HOUR_MS, ...viewOf(hour) })) ?? null,
    }
    return reply(200, body)
  },
})

const viewOf = ({ first, last, segments, blocks, eventsBytes, booksBytes, ...more }: CoveredPeriod) => ({
  from_height: first,
  to_height: last,
  segments,
  blocks,
  events_bytes: eventsBytes,
  books_bytes: booksBytes,
  checkpoints: more.checkpoints,
  checkpoints_bytes: more.checkpointsBytes,
})

function endsOf(ends: { readonly from: HeightAndTime; readonly to: HeightAndTime } | null) {
  const position = (which: 'from' | 'to') => ends && { height: ends[which].height, time_ms: ends[which].time }
  return { from: position('from'), to: position('to') }
}

const MAX_PAGE = 1_000
const Gap = z
  .object({
    from_height: BlockHeight.describe('First missing block'),
    to_height: BlockHeight.describe('Last missing block'),
    after_ms: UnixMs.describe('Time of the block before the gap, Unix milliseconds'),
    before_ms: UnixMs.describe('Time of the block after the gap, Unix milliseconds'),
    state: z
      .enum(['open', 'beyond_repair'])
      .describe('`open`: the blocks may still come from a different source; `beyond_repair`: no source has them'),
  })
  .meta({ id: 'HistoryGap' })

const historyGaps = defineEndpoint({
  id: 'historyGaps',
  route: 'GET /v1/{chain}/history/gaps',
  summary: 'List missing blocks, sorted by height',
  description: 'Each height of the coverage that is not in a gap is archived, or was removed by retention.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: CHAIN_PARAMS,
  query: z.strictObject({
    after: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().describe('Value of `next` from the previous page'),
    limit: limitOf(MAX_PAGE, 100),
  }),
  responses: okResponse('A page of gaps', z.object({ gaps: z.array(Gap).describe('Gaps in order'), next: NEXT }), {
    gaps: [{ from_height: 925001000, to_height: 925001004, after_ms: 1790000000000, before_ms: 1790000000420 }],
  }),
  handle: async ({ params: { chain }, query: { after, limit } }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const found = await history.value.gaps(after ?? null, limit + 1)
    const page = found.slice(0, limit)
    const gaps = page.map(({ from, to, afterMs, beforeMs, beyondMs }) => ({
      from_height: from,
      to_height: to,
      after_ms: afterMs,
      before_ms: beforeMs,
      state: beyondMs === null ? ('open' as const) : ('beyond_repair' as const),
    }))
    return reply(200, { gaps, next: nextCursor(found, limit, ({ from }) => String(from)) })
  },
})

export const HISTORY = [historyCoverage, historyGaps]
