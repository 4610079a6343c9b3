// DELETE /admin/accounts/{id}/webhook.

import { err } from '../../core/result.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { Cleared, NO_WEBHOOK, WEBHOOK_PATH } from '../webhook-shapes.ts'

export const clearWebhook = defineEndpoint(
  {
    id: 'clearWebhook',
    method: 'delete',
    path: WEBHOOK_PATH,
    summary: 'Tell nobody any more',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    answers: {
      200: {
        description: 'Cleared; what was not delivered is dropped',
        schema: Cleared,
        example: { account: 'acme', cleared: true },
      },
    },
    refusals: [404],
  },
  async ({ params: { id } }, { accounts, meterOf }) => {
    const missing = await accounts.missing(id)
    if (missing !== null) return err(missing)
    return (await meterOf(id).clearWebhook()) ? reply(200, { account: id, cleared: true }) : err(NO_WEBHOOK)
  },
)
