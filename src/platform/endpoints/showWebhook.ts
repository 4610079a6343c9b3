// GET /admin/accounts/{id}/webhook.

import { err } from '../../core/result.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { NO_WEBHOOK, WEBHOOK_EXAMPLE, WEBHOOK_PATH, Webhook } from '../webhook-shapes.ts'

export const showWebhook = defineEndpoint(
  {
    id: 'showWebhook',
    method: 'get',
    path: WEBHOOK_PATH,
    summary: 'The webhook of an account and what became of its events',
    door: 'admin',
    // The address may hold a secret.
    role: 'owner',
    params: ACCOUNT_PARAMS,
    answers: { 200: { description: 'The webhook', schema: Webhook, example: WEBHOOK_EXAMPLE } },
    refusals: [404],
  },
  async ({ params: { id } }, { accounts, meterOf }) => {
    const missing = await accounts.missing(id)
    if (missing !== null) return err(missing)
    const webhook = await meterOf(id).webhook()
    return webhook === null ? err(NO_WEBHOOK) : reply(200, { account: id, ...webhook })
  },
)
