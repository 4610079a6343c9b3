// GET /admin/history/retention: what of the archive would be removed by age. Nothing is.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { KEPT_PRODUCTS, type KeptDays } from '../../history/archive/retention.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { Bytes, Height, NO_ARCHIVE, Objects } from '../history-shapes.ts'

const DAYS_MOST = 36_500
const Days = z
  .union(
    [z.literal('none').transform(() => null), wholeNumber(1, DAYS_MOST)],
    `must be a whole number from 1 to ${DAYS_MOST}, or none`,
  )
  .optional()
const inPlaceOf = (variable: string) => Days.describe(`Days in place of \`${variable}\`; \`none\`: for good`)
const ShownDays = z.int().nullable().describe('Days that this product is kept; null: for good')

const Due = z
  .object({
    product: z.enum(KEPT_PRODUCTS).describe('What goes: lines of segments, or checkpoints'),
    days: ShownDays,
    objects: Objects.describe('Files that would go'),
    bytes: Bytes,
    from_height: Height.nullable().describe('First block of what would go; null: nothing would'),
    to_height: Height.nullable().describe('Last block of it; null: nothing would'),
    from_ms: UnixMs.nullable().describe('Time of the first, Unix milliseconds; null: nothing would'),
    to_ms: UnixMs.nullable().describe('Time of the last, Unix milliseconds; null: nothing would'),
  })
  .meta({ id: 'RetentionDue' })

export const showRetention = defineEndpoint(
  {
    id: 'showRetention',
    method: 'get',
    path: '/admin/history/retention',
    summary: 'What of the archive would be removed by age, and nothing is',
    description:
      'Ages are counted back from the newest archived block. Days may be tried before they are set as variables. ' +
      'Beyond `ARCHIVE_KEEP_MB` the oldest segments go besides.',
    door: 'admin',
    query: z.strictObject({
      events_days: inPlaceOf('ARCHIVE_KEEP_EVENTS_DAYS'),
      books_days: inPlaceOf('ARCHIVE_KEEP_BOOKS_DAYS'),
      checkpoints_days: inPlaceOf('ARCHIVE_KEEP_CHECKPOINTS_DAYS'),
    }),
    answers: {
      200: {
        description: 'What would go',
        schema: z.object({
          bytes: Bytes.describe('All that is archived'),
          most_bytes: Bytes.nullable().describe('The bound of `ARCHIVE_KEEP_MB`; null: none'),
          due: z.array(Due).describe('Of each product'),
        }),
        example: {
          bytes: 5242880000,
          most_bytes: null,
          due: [
            {
              product: 'books',
              days: 30,
              objects: 1440,
              bytes: 4294967296,
              from_height: 925000000,
              to_height: 926252799,
              from_ms: 1790000000000,
              to_ms: 1790086399931,
            },
          ],
        },
      },
    },
    refusals: [],
  },
  async ({ query: { events_days: events, books_days: books, checkpoints_days: checkpoints } }, { retention }) => {
    const said = Object.entries({ events, books, checkpoints }).filter(([, days]) => days !== undefined)
    const plan = await retention().overdue(Object.fromEntries(said) as Partial<KeptDays>)
    if (plan === null) return err(NO_ARCHIVE)
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
)
