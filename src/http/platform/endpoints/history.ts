// The history of a chain: what there is of it and what never came, and what its endpoints share: which chain, which range of
// time, and files as answers show them.

import * as z from 'zod'
import type { CoveredDay, Exports } from '../../../archive/exports/exports-api.ts'
import type { FileSource, TimeRange } from '../../../archive/exports/file-list.ts'
import type { Failure } from '../../../core/failure.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { ONE_CREDIT } from '../../../metering/tariff.ts'
import type { HeightAndTime } from '../../../protocol/feed/durable-api.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { nextCursor, UnixMs } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import { badField } from '../refusal.ts'
import { Day, dayText, startOf } from '../usage-window.ts'

/** Rows of one question: some 130,000 minutes. */
const WINDOW_DAYS = 92
const DEFAULT_DAYS = 31
/** The last millisecond of the year 9999. */
const LAST_MS = 253_402_300_799_999
/** How much of a name is said back. */
const NAME_MAX_LENGTH = 32

export const CHAIN_PARAMS = { chain: z.string().describe('Name of the chain, such as `hyperliquid`') }
export const NO_HISTORY: Failure = { kind: 'not_found', what: 'This archive', hint: 'This gateway has no archive.' }

/** The refusal of a chain that is not the gateway's own. */
export function unknownChain(chain: string, platform: Platform): Failure {
  const asked = JSON.stringify(chain.slice(0, NAME_MAX_LENGTH))
  const own = JSON.stringify(platform.chain)
  const hint = `The chain ${asked} does not exist here: this gateway has ${own}.`
  return { kind: 'not_found', what: 'This chain', hint }
}

/** The history of this chain, or why there is none. */
export function historyOf(chain: string, platform: Platform): Result<Exports, Failure> {
  if (chain !== platform.chain) return err(unknownChain(chain, platform))
  return platform.exports ? ok(platform.exports) : err(NO_HISTORY)
}

const PRODUCT_NAMES =
  '`events`, `books`, `checkpoints`, and as Parquet `fills_by_user`, `fills_by_time` (two rows a trade, one for each side), `ledger_by_user`, `candles_by_coin`, `funding_by_user`'
export const FileProduct = z.string().describe(`One of ${PRODUCT_NAMES}`)
export const BlockHeight = z.int().describe('Height of a block')
export const Bytes = z.int().describe('Bytes as they are stored, compressed')
export const Objects = z.int().describe('Files')
export const NEXT = z.string().nullable().describe('Where the next page begins; null: this is the last one')

const UnixMsText = wholeNumber(0, LAST_MS)

export const WINDOW = {
  day: Day.optional().describe('A UTC day; goes without `from` and `to`'),
  from: UnixMsText.optional().describe('Unix milliseconds, included'),
  to: UnixMsText.optional().describe('Unix milliseconds, included; now unless said'),
}

export const PRODUCTS = {
  products: z.string().optional().describe(`Some of ${PRODUCT_NAMES}, with commas between; all unless said`),
}

/** A number of rows of a page. */
export const limitOf = (most: number, usual: number) =>
  wholeNumber(1, most).default(usual).describe(`At most so many, up to ${most}; ${usual} unless said`)

interface RangeQuery {
  readonly day?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** The range that is asked for; `isNeeded`: nothing is taken for it where none is said, else it is the last month. */
export function rangeOf({ day, from, to }: RangeQuery, nowMs: number, isNeeded: boolean): Result<TimeRange, Failure> {
  if (day !== undefined) {
    if (from !== undefined || to !== undefined) return err(badField('day', 'goes without "from" and "to"'))
    return ok({ fromMs: startOf(day), toMs: startOf(day) + DAY_MS - 1 })
  }
  const toMs = to ?? nowMs
  if (from === undefined && isNeeded) return err(badField('from', 'is required where no "day" is said'))
  const fromMs = from ?? Math.max(0, Math.floor(toMs / DAY_MS) - DEFAULT_DAYS + 1) * DAY_MS
  if (fromMs > toMs) return err(badField('from', `must not be after ${to === undefined ? 'now' : '"to"'}`))
  if (toMs - fromMs >= WINDOW_DAYS * DAY_MS) return err(badField('from', `must be within ${WINDOW_DAYS} days of "to"`))
  return ok({ fromMs, toMs })
}

/** Those of the products that are asked for, in their own order. */
export function sourcesOf(
  products: string | undefined,
  sources: readonly FileSource[],
): Result<readonly FileSource[], Failure> {
  if (products === undefined) return ok(sources)
  const asked = products.split(',')
  const names = sources.map(({ product }) => product)
  if (!asked.every((name) => names.includes(name)))
    return err(badField('products', `must be some of ${names.join(', ')}, with commas between`))
  return ok(sources.filter(({ product }) => asked.includes(product)))
}

/** First and last block of something. */
export const SPAN = {
  from_height: BlockHeight.describe('Its first block'),
  to_height: BlockHeight.describe('Its last block'),
  from_ms: UnixMs.describe('Time of its first block, Unix milliseconds'),
  to_ms: UnixMs.describe('Time of its last block, Unix milliseconds'),
}

const SUMS = {
  segments: z.int().describe('Segments, of about a minute each, by their first block'),
  blocks: z.int().describe('Blocks in them'),
  events_bytes: Bytes.describe('Bytes of events, compressed; those that were removed are not counted'),
  books_bytes: Bytes.describe('Bytes of changes of books, compressed; those that were removed are not counted'),
  checkpoints: z.int().describe('Checkpoints: all books at a height'),
  checkpoints_bytes: Bytes.describe('Bytes of checkpoints, compressed'),
}
const BlockPosition = z.object({ height: BlockHeight, time_ms: UnixMs }).nullable()
const HOLES_MOST = 1_000
const Hole = z.object({
  from_height: BlockHeight.describe('The first block'),
  to_height: BlockHeight.describe('The last block'),
  known: z.enum(['nothing', 'fills']).describe('`fills`: fills are answered, and neither ledger nor funding'),
})

const Coverage = z
  .object({
    chain: z.string().describe('Name of the chain'),
    from: BlockPosition.describe('The first block of all that there is; null: nothing is archived yet'),
    to: BlockPosition.describe('The last block; what is newer is on its way'),
    files: z
      .object({
        from: BlockPosition.describe('The first block that files have; null: there are none yet'),
        to: BlockPosition.describe('The last one'),
        holes: z
          .array(Hole)
          .describe(`Blocks between them that files lack, or know in part: the newest ${HOLES_MOST}, in order`),
      })
      .describe('What `POST /info` answers of users, builders and coins out of files'),
    totals: z.object(SUMS).describe('Of the days below together'),
    days: z
      .array(
        z.object({
          day: Day,
          from_height: BlockHeight.describe('First block of its segments'),
          to_height: BlockHeight.describe('Last block of its segments'),
          ...SUMS,
        }),
      )
      .describe('Days of the range that have anything'),
  })
  .meta({ id: 'HistoryCoverage' })

const historyCoverage = defineEndpoint({
  id: 'historyCoverage',
  route: 'GET /v1/{chain}/history/coverage',
  summary: 'What of a chain’s history there is, by UTC day',
  description: 'The last 31 days unless said, at most 92.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: CHAIN_PARAMS,
  query: z.strictObject(WINDOW),
  responses: okResponse('What there is', Coverage, {
    from: { height: 845000000, time_ms: 1790000000000 },
    to: { height: 1034172800, time_ms: 1800000000000 },
    files: {
      from: { height: 845000000, time_ms: 1790000000000 },
      to: { height: 1034171900, time_ms: 1799999930000 },
      holes: [{ from_height: 925001000, to_height: 925001004 }],
    },
  }),
  handle: async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const range = rangeOf(query, platform.now(), false)
    if (!range.ok) return range
    const { value } = history
    const [ends, days, files] = await Promise.all([value.ends(), value.days(range.value), value.files()])
    const total = (name: Exclude<keyof CoveredDay, 'dayMs' | 'first' | 'last'>) =>
      days.reduce((sum, day) => sum + day[name], 0)
    const body = {
      chain,
      ...endsOf(ends),
      files: {
        ...endsOf(files),
        holes: (files?.gaps ?? []).slice(-HOLES_MOST).map(({ from, to, known }) => {
          return { from_height: from, to_height: to, known: known ?? ('nothing' as const) }
        }),
      },
      totals: {
        segments: total('segments'),
        blocks: total('blocks'),
        events_bytes: total('eventsBytes'),
        books_bytes: total('booksBytes'),
        checkpoints: total('checkpoints'),
        checkpoints_bytes: total('checkpointsBytes'),
      },
      days: days.map(({ dayMs, first, last, eventsBytes, booksBytes, checkpointsBytes, ...counts }) => ({
        day: dayText(dayMs),
        from_height: first,
        to_height: last,
        ...counts,
        events_bytes: eventsBytes,
        books_bytes: booksBytes,
        checkpoints_bytes: checkpointsBytes,
      })),
    }
    return reply(200, body)
  },
})

function endsOf(ends: { readonly from: HeightAndTime; readonly to: HeightAndTime } | null) {
  const place = (which: 'from' | 'to') => ends && { height: ends[which].height, time_ms: ends[which].time }
  return { from: place('from'), to: place('to') }
}

const PAGE_MOST = 1_000
const Gap = z
  .object({
    from_height: BlockHeight.describe('The first block that is missing'),
    to_height: BlockHeight.describe('The last block that is missing'),
    after_ms: UnixMs.describe('Time of the block before, Unix milliseconds'),
    before_ms: UnixMs.describe('Time of the block behind, Unix milliseconds'),
  })
  .meta({ id: 'HistoryGap' })

const historyGaps = defineEndpoint({
  id: 'historyGaps',
  route: 'GET /v1/{chain}/history/gaps',
  summary: 'Blocks that never came, in order of height',
  description:
    'A height between the ends of `coverage` that stands in no gap is archived, or was removed with its day.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: CHAIN_PARAMS,
  query: z.strictObject({
    after: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().describe('`next` of the page before'),
    limit: limitOf(PAGE_MOST, 100),
  }),
  responses: okResponse('A page of gaps', z.object({ gaps: z.array(Gap).describe('In order'), next: NEXT }), {
    gaps: [{ from_height: 925001000, to_height: 925001004, after_ms: 1790000000000, before_ms: 1790000000420 }],
  }),
  handle: async ({ params: { chain }, query: { after, limit } }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const found = await history.value.gaps(after ?? null, limit + 1)
    if (found === null) return err(badField('after', 'must be "next" of the page before'))
    const page = found.slice(0, limit)
    const gaps = page.map(({ from, to, afterMs, beforeMs }) => ({
      from_height: from,
      to_height: to,
      after_ms: afterMs,
      before_ms: beforeMs,
    }))
    return reply(200, { gaps, next: nextCursor(found, limit, ({ from }) => String(from)) })
  },
})

export const HISTORY = [historyCoverage, historyGaps]
