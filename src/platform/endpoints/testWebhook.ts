// POST /admin/accounts/{id}/webhook/test.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId } from '../fields.ts'
import { NO_WEBHOOK, WEBHOOK_PATH } from '../webhook-shapes.ts'

export const testWebhook = defineEndpoint(
  {
    id: 'testWebhook',
    method: 'post',
    path: `${WEBHOOK_PATH}/test`,
    summary: 'Send a test event now, once',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    answers: {
      200: {
        description: 'What came of it',
        schema: z.object({
          account: AccountId,
          delivered: z.boolean().describe('The receiver answered with a 2xx'),
          answer: z.string().describe('Its status, or why there was none'),
        }),
        example: { account: 'acme', delivered: true, answer: '204' },
      },
    },
    refusals: [404],
  },
  async ({ params: { id } }, { accounts, meterOf }) => {
    const missing = await accounts.missing(id)
    if (missing !== null) return err(missing)
    const delivery = await meterOf(id).testWebhook()
    return delivery === null ? err(NO_WEBHOOK) : reply(200, { account: id, ...delivery })
  },
)
