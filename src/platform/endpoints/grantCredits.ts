// POST /admin/accounts/{id}/grants.

import * as z from 'zod'
import { ACCOUNT_PARAMS, SUMS, SUMS_EXAMPLE, shownSums } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, Credits, IdempotencyKey } from '../fields.ts'

export const grantCredits = defineEndpoint(
  {
    id: 'grantCredits',
    method: 'post',
    path: '/admin/accounts/{id}/grants',
    summary: 'Add credits that do not expire, once per idempotency key',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    body: {
      schema: z.strictObject({
        credits: Credits.describe('Added to the balance; they do not expire'),
        idempotency_key: IdempotencyKey,
      }),
      optional: false,
      example: { credits: '500.25', idempotency_key: 'invoice-4711' },
    },
    answers: {
      200: {
        description: 'The sums after it',
        schema: z.object({ account: AccountId, ...SUMS }),
        example: { account: 'acme', ...SUMS_EXAMPLE },
      },
    },
    refusals: [404, 409],
  },
  async ({ params: { id }, body }, { accounts }) => {
    const granted = await accounts.grant(id, body.idempotency_key, body.credits)
    return granted.ok ? reply(200, { account: id, ...shownSums(granted.value) }) : granted
  },
)
