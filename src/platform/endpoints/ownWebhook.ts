// GET /platform/webhook/.

import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { NO_WEBHOOK, OWN_WEBHOOK_PATH, WEBHOOK_EXAMPLE, Webhook } from '../webhook-shapes.ts'

export const ownWebhook = defineEndpoint(
  {
    id: 'ownWebhook',
    method: 'get',
    path: OWN_WEBHOOK_PATH,
    summary: 'The webhook of the account and what became of its events',
    description: 'Free of charge. With a service key: the address may hold a secret.',
    door: 'service',
    answers: { 200: { description: 'The webhook', schema: enveloped(Webhook), example: inEnvelope(WEBHOOK_EXAMPLE) } },
    refusals: [404],
  },
  async ({ identity: { account } }, { meterOf }) => {
    const webhook = await meterOf(account).webhook()
    return webhook === null ? err(NO_WEBHOOK) : reply(200, inEnvelope({ account, ...webhook }))
  },
)
