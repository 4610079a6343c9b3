// POST /platform/webhook/test.

import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { NO_WEBHOOK, OWN_WEBHOOK_PATH, TESTED_EXAMPLE, Tested } from '../webhook-shapes.ts'

export const testOwnWebhook = defineEndpoint(
  {
    id: 'testOwnWebhook',
    method: 'post',
    path: `${OWN_WEBHOOK_PATH}test`,
    summary: 'Send a test event to the account’s webhook now, once',
    description: 'Free of charge, with a service key.',
    door: 'service',
    answers: {
      200: { description: 'What came of it', schema: enveloped(Tested), example: inEnvelope(TESTED_EXAMPLE) },
    },
    refusals: [404],
  },
  async ({ identity: { account } }, { meterOf }) => {
    const delivery = await meterOf(account).testWebhook()
    return delivery === null ? err(NO_WEBHOOK) : reply(200, inEnvelope({ account, ...delivery }))
  },
)
