// POST /admin/accounts/{id}/webhook/test.

import { err } from '../../core/result.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { NO_WEBHOOK, TESTED_EXAMPLE, Tested, WEBHOOK_PATH } from '../webhook-shapes.ts'

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
        schema: Tested,
        example: TESTED_EXAMPLE,
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
