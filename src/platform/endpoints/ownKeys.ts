// GET /platform/keys/: the keys of the account, page by page.

import * as z from 'zod'
import { wholeNumber } from '../../core/whole-number.ts'
import { KEYS_MAX } from '../../key/key-row.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { AfterKey, keyPlaceText } from '../key-shapes.ts'
import { FOR_READING, OWN_KEYS_PATH, OWNED_EXAMPLE, OwnedKey, ownedKey } from '../own-account.ts'

const PAGE_MAX = 1_000

export const ownKeys = defineEndpoint(
  {
    id: 'ownKeys',
    method: 'get',
    path: OWN_KEYS_PATH,
    summary: 'The keys of the account, newest first',
    description: `${FOR_READING} Where \`next\` is not null there are more: ask again with \`after\` = \`next\`.`,
    door: 'key',
    query: z.strictObject({
      limit: wholeNumber(1, PAGE_MAX).default(100).describe('At most so many, up to 1,000; 100 unless said'),
      after: AfterKey.optional().describe('`next` of the page before'),
    }),
    answers: {
      200: {
        description: 'A page of keys',
        schema: enveloped(
          z.object({
            keys: z.array(OwnedKey).describe('Newest first'),
            next: z.string().nullable().describe('Where the next page begins; null: this is the last one'),
            counted: z.int().describe('Keys that work, or were made within a day'),
            at_most: z.int().describe('So many of those an account may have'),
          }),
        ),
        example: inEnvelope({ keys: [OWNED_EXAMPLE], next: null, counted: 1, at_most: KEYS_MAX }),
      },
    },
    refusals: [400],
  },
  async ({ query: { limit, after }, identity: { account } }, { keys }) => {
    const [rows, counted] = await Promise.all([keys.page(account, after ?? null, limit + 1), keys.count(account)])
    const next = rows.length > limit ? keyPlaceText(rows[limit - 1]!) : null
    return reply(200, inEnvelope({ keys: rows.slice(0, limit).map(ownedKey), next, counted, at_most: KEYS_MAX }))
  },
)
