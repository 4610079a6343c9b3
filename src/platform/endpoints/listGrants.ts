// GET /admin/grants: top-ups of all accounts.

import * as z from 'zod'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, CreditsText, UnixMs } from '../fields.ts'
import { Before, Limit, Next, pageOf } from '../page-fields.ts'

const Grant = z
  .object({
    account: AccountId,
    id: z.string().describe('`grant:` and the idempotency key; `first`: given when the account was made'),
    credits: CreditsText.describe('What was given'),
    created: UnixMs.describe('When, Unix milliseconds'),
  })
  .meta({ id: 'Grant' })

export const listGrants = defineEndpoint(
  {
    id: 'listGrants',
    method: 'get',
    path: '/admin/grants',
    summary: 'Credits that were granted beside those of plans, newest first',
    door: 'admin',
    query: z.strictObject({
      account: AccountId.optional().describe('To this account alone'),
      before: Before,
      limit: Limit,
    }),
    answers: {
      200: {
        description: 'A page of grants',
        schema: z.object({ grants: z.array(Grant).describe('Newest first'), next: Next }),
        example: {
          grants: [{ account: 'acme', id: 'grant:invoice-4711', credits: '500', created: 1790000000000 }],
          next: null,
        },
      },
    },
    refusals: [],
  },
  async ({ query: { account, before, limit } }, { business }) => {
    const { rows, next } = pageOf(await business.grants(account, before, limit + 1), limit)
    const grants = rows.map(({ account, id, micro, created }) => ({
      account,
      id,
      credits: formatCredits(micro),
      created,
    }))
    return reply(200, { grants, next })
  },
)
