// GET /v1/{chain}/history/coverage: what of a chain's history there is.

import * as z from 'zod'
import { ONE_CREDIT } from '../../credit/tariff.ts'
import type { HeightAndTime } from '../../feed/held-fills.ts'
import type { CoveredDay } from '../../history/exports/exports-api.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { UnixMs } from '../fields.ts'
import { Bytes, CHAIN_EXAMPLE, CHAIN_PARAMS, Height, historyOf, rangeOf, WINDOW } from '../history-shapes.ts'
import { Day, dayText } from '../usage-window.ts'

const SUMS = {
  segments: z.int().describe('Segments, of about a minute each, by their first block'),
  blocks: z.int().describe('Blocks in them'),
  events_bytes: Bytes.describe('Bytes of events, compressed; those that were removed are not counted'),
  books_bytes: Bytes.describe('Bytes of changes of books, compressed; those that were removed are not counted'),
  checkpoints: z.int().describe('Checkpoints: all books at a height'),
  checkpoints_bytes: Bytes.describe('Bytes of checkpoints, compressed'),
}
const Place = z.object({ height: Height, time_ms: UnixMs }).nullable()
/** Of an answer. */
const HOLES_MOST = 1_000
const Hole = z.object({
  from_height: Height.describe('The first block'),
  to_height: Height.describe('The last block'),
  known: z.enum(['nothing', 'fills']).describe('`fills`: fills are answered, and neither ledger nor funding'),
})

const Coverage = z
  .object({
    chain: z.string().describe('Name of the chain'),
    from: Place.describe('The first block of all that there is; null: nothing is archived yet'),
    to: Place.describe('The last block; what is newer is on its way'),
    files: z
      .object({
        from: Place.describe('The first block that files have; null: there are none yet'),
        to: Place.describe('The last one'),
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
          from_height: Height.describe('First block of its segments'),
          to_height: Height.describe('Last block of its segments'),
          ...SUMS,
        }),
      )
      .describe('Days of the range that have anything'),
  })
  .meta({ id: 'HistoryCoverage' })

const SUMS_EXAMPLE = {
  segments: 1440,
  blocks: 1252800,
  events_bytes: 880803840,
  books_bytes: 4294967296,
  checkpoints: 96,
  checkpoints_bytes: 503316480,
}

export const historyCoverage = defineEndpoint(
  {
    id: 'historyCoverage',
    method: 'get',
    path: '/v1/{chain}/history/coverage',
    summary: 'What of a chain’s history there is, by UTC day',
    description: 'The last 31 days unless said, at most 92.',
    door: 'key',
    product: 'data',
    price: ONE_CREDIT,
    params: CHAIN_PARAMS,
    query: z.strictObject(WINDOW),
    answers: {
      200: {
        description: 'What there is',
        schema: enveloped(Coverage),
        example: inEnvelope({
          chain: CHAIN_EXAMPLE,
          from: { height: 845000000, time_ms: 1790000000000 },
          to: { height: 1034172800, time_ms: 1800000000000 },
          files: {
            from: { height: 845000000, time_ms: 1790000000000 },
            to: { height: 1034171900, time_ms: 1799999930000 },
            holes: [{ from_height: 925001000, to_height: 925001004, known: 'nothing' }],
          },
          totals: SUMS_EXAMPLE,
          days: [{ day: '2026-11-21', from_height: 925000000, to_height: 926252799, ...SUMS_EXAMPLE }],
        }),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { chain }, query }, platform) => {
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
    return reply(200, inEnvelope(body))
  },
)

function endsOf(ends: { readonly from: HeightAndTime; readonly to: HeightAndTime } | null) {
  const place = (which: 'from' | 'to') => ends && { height: ends[which].height, time_ms: ends[which].time }
  return { from: place('from'), to: place('to') }
}
