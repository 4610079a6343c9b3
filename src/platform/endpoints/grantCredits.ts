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
    description:
      'The account remembers its idempotency keys for ever: the next payment needs another one. `repeated` says that ' +
      'nothing was added; the same key with another amount is refused with 409.',
    door: 'admin',
    role: 'billing',
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
        schema: z.object({
          account: AccountId,
          repeated: z
            .boolean()
            .describe('True: granted by an earlier call with this idempotency key; nothing was added now'),
          ...SUMS,
        }),
        example: { account: 'acme', repeated: false, ...SUMS_EXAMPLE },
      },
    },
    refusals: [404, 409],
  },
  async ({ params: { id }, body }, { accounts }) => {
    const granted = await accounts.grant(id, body.idempotency_key, body.credits)
    if (!granted.ok) return granted
    const { repeated, account } = granted.value
    return reply(200, { account: id, repeated, ...shownSums(account) })
  },
)
