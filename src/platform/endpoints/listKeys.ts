// GET /admin/keys.

import * as z from 'zod'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { COUNTED_EXAMPLE, CountedKey, countedKey, OfAccount } from '../key-shapes.ts'

const ListedKey = z.object({
  ...CountedKey.shape,
  balance: CreditsText.nullable().describe('The balance of its account; null: its meter did not answer'),
})

export const listKeys = defineEndpoint(
  {
    id: 'listKeys',
    method: 'get',
    path: '/admin/keys',
    summary: 'Keys with their last use, newest first, at most 1,000',
    door: 'admin',
    query: OfAccount,
    answers: {
      200: {
        description: 'The keys',
        schema: z.object({ keys: z.array(ListedKey).describe('Newest first') }),
        example: { keys: [{ ...COUNTED_EXAMPLE, balance: '9999.87' }] },
      },
    },
    refusals: [],
  },
  async ({ query: { account } }, { keys }) => {
    const listed = await keys.list(account)
    const shown = listed.map((key) => ({
      ...countedKey(key),
      balance: key.balance === null ? null : formatCredits(key.balance),
    }))
    return reply(200, { keys: shown })
  },
)
