// GET /admin/accounts/{id}/usage: what an account used, to the single key and type. Law: nothing is silently cut; what a
// page has no room for begins the next one. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId } from '../fields.ts'
import { Place, placeText, shownUsed, USED, USED_EXAMPLE, USED_TYPE } from '../usage-shapes.ts'
import { Day, dayText, usageQuery, usageWindow } from '../usage-window.ts'

const PAGE = 1_000

const Row = z
  .object({
    date: Day,
    hash: z.string().describe('SHA-256 of the key, hex'),
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    label: z.string().nullable().describe('Text for people'),
    ...USED_TYPE,
    ...USED,
  })
  .meta({ id: 'AccountUsageRow' })

const TYPE_EXAMPLE = { product: 'info', type: 'l2Book' }

export const accountUsage = defineEndpoint(
  {
    id: 'accountUsage',
    method: 'get',
    path: '/admin/accounts/{id}/usage',
    summary: 'What an account used, per UTC day, key and type',
    description:
      `At most ${PAGE.toLocaleString('en')} rows, by day, hash, product and type. Where \`next\` is not null there are more: ask again ` +
      'with the same window and `after` = `next`. `totals` are those of the whole window on every page. Usage is kept ' +
      'for 400 days.',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    query: usageQuery({ after: Place.optional().describe('`next` of the page before') }),
    answers: {
      200: {
        description: 'A page of the report',
        schema: z.object({
          account: AccountId,
          from: Day.describe('First UTC day'),
          to: Day.describe('Last UTC day, included'),
          totals: z.object(USED).describe('Of the whole window'),
          rows: z.array(Row).describe('A day, a key and a type each'),
          next: z.string().nullable().describe('Where the next page begins; null: this is the last one'),
        }),
        example: {
          account: 'acme',
          from: '2026-10-22',
          to: '2026-11-22',
          totals: USED_EXAMPLE,
          rows: [
            {
              date: '2026-11-21',
              hash: 'a1'.repeat(32),
              prefix: 'cqt_9fKxWq2T',
              label: 'bot',
              ...TYPE_EXAMPLE,
              ...USED_EXAMPLE,
            },
          ],
          next: null,
        },
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, query: { after, ...asked } }, { accounts, keys, meterOf, now }) => {
    const window = usageWindow(asked, now())
    if (!window.ok) return window
    const missing = await accounts.missing(id)
    if (missing !== null) return err(missing)
    const { fromMs, toMs } = window.value
    const { total, rows } = await meterOf(id).usagePage(fromMs, toMs, after ?? null, PAGE + 1)
    const page = rows.slice(0, PAGE)
    const names = await keys.names([...new Set(page.map(({ keyHash }) => keyHash))])
    const last = page.at(-1)
    return reply(200, {
      account: id,
      from: dayText(fromMs),
      to: dayText(toMs - 1),
      totals: shownUsed(total),
      rows: page.map((row) => ({
        date: dayText(row.day),
        hash: row.keyHash,
        prefix: names.get(row.keyHash)?.prefix ?? null,
        label: names.get(row.keyHash)?.label ?? null,
        product: row.product,
        type: row.type,
        ...shownUsed(row),
      })),
      next: rows.length > PAGE && last !== undefined ? placeText(last) : null,
    })
  },
)
