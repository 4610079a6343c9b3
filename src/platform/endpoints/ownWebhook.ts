// GET /platform/webhook/.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { FOR_MANAGING, manager } from '../own-account.ts'
import { OWN_WEBHOOK_PATH, WEBHOOK_EXAMPLE, Webhook } from '../webhook-shapes.ts'

export const ownWebhook = defineEndpoint(
  {
    id: 'ownWebhook',
    method: 'get',
    path: OWN_WEBHOOK_PATH,
    summary: 'The webhook of the account and what became of its events',
    description: `${FOR_MANAGING} The address may hold a secret.`,
    door: 'service',
    answers: {
      200: {
        description: 'The webhook',
        schema: enveloped(z.object({ webhook: Webhook.nullable().describe('Null: nobody is told') })),
        example: inEnvelope({ webhook: WEBHOOK_EXAMPLE }),
      },
    },
    refusals: [],
  },
  async ({ identity: { account, keyHash } }, { keys, meterOf }) => {
    const caller = await manager(keys, keyHash)
    if (!caller.ok) return caller
    const webhook = await meterOf(account).webhook()
    return reply(200, inEnvelope({ webhook: webhook === null ? null : { account, ...webhook } }))
  },
)
