// GET /admin/keys.

import * as z from 'zod'
import { wholeNumber } from '../../core/whole-number.ts'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, CreditsText } from '../fields.ts'
import { AfterKey, COUNTED_EXAMPLE, CountedKey, countedKey, keyPlaceText } from '../key-shapes.ts'

const PAGE_MAX = 1_000

const ListedKey = z.object({
  ...CountedKey.shape,
  balance: CreditsText.nullable().describe('The balance of its account; null: its meter did not answer'),
})

export const listKeys = defineEndpoint(
  {
    id: 'listKeys',
    method: 'get',
    path: '/admin/keys',
    summary: 'Keys with their last use, newest first',
    description: 'Where `next` is not null there are more: ask again with `after` = `next`.',
    door: 'admin',
    query: z.strictObject({
      account: AccountId.optional().describe('Of this account alone'),
      limit: wholeNumber(1, PAGE_MAX).default(PAGE_MAX).describe('At most so many, up to 1,000; 1,000 unless said'),
      after: AfterKey.optional().describe('`next` of the page before'),
    }),
    answers: {
      200: {
        description: 'A page of keys',
        schema: z.object({
          keys: z.array(ListedKey).describe('Newest first'),
          next: z.string().nullable().describe('Where the next page begins; null: this is the last one'),
        }),
        example: { keys: [{ ...COUNTED_EXAMPLE, balance: '9999.87' }], next: null },
      },
    },
    refusals: [],
  },
  async ({ query: { account, limit, after } }, { keys }) => {
    const listed = await keys.list(account, limit + 1, after)
    const shown = listed.slice(0, limit).map((key) => ({
      ...countedKey(key),
      balance: key.balance === null ? null : formatCredits(key.balance),
    }))
    return reply(200, { keys: shown, next: listed.length > limit ? keyPlaceText(listed[limit - 1]!) : null })
  },
)
