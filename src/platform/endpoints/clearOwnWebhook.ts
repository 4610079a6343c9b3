// DELETE /platform/webhook/.

import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { FOR_MANAGING, manager } from '../own-account.ts'
import { Cleared, NO_WEBHOOK, OWN_WEBHOOK_PATH } from '../webhook-shapes.ts'

export const clearOwnWebhook = defineEndpoint(
  {
    id: 'clearOwnWebhook',
    method: 'delete',
    path: OWN_WEBHOOK_PATH,
    summary: 'Tell nobody any more of the account’s credits',
    description: FOR_MANAGING,
    door: 'service',
    answers: {
      200: {
        description: 'Cleared; what was not delivered is dropped',
        schema: enveloped(Cleared),
        example: inEnvelope({ account: 'acme', cleared: true }),
      },
    },
    refusals: [404],
  },
  async ({ identity: { account, keyHash } }, { keys, meterOf }) => {
    const caller = await manager(keys, keyHash)
    if (!caller.ok) return caller
    return (await meterOf(account).clearWebhook())
      ? reply(200, inEnvelope({ account, cleared: true }))
      : err(NO_WEBHOOK)
  },
)
