// POST /platform/webhook/test.

import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { FOR_MANAGING, manager } from '../own-account.ts'
import { NO_WEBHOOK, OWN_WEBHOOK_PATH, TESTED_EXAMPLE, Tested } from '../webhook-shapes.ts'

/** It asks another's server, whenever somebody likes. */
const EVERY_MS = 10_000

export const testOwnWebhook = defineEndpoint(
  {
    id: 'testOwnWebhook',
    method: 'post',
    path: `${OWN_WEBHOOK_PATH}test`,
    summary: 'Send a test event to the account’s webhook now, once',
    description: `${FOR_MANAGING} At most one every ten seconds.`,
    door: 'service',
    answers: {
      200: { description: 'What came of it', schema: enveloped(Tested), example: inEnvelope(TESTED_EXAMPLE) },
    },
    refusals: [404],
  },
  async ({ identity: { account, keyHash } }, { keys, meterOf }) => {
    const caller = await manager(keys, keyHash)
    if (!caller.ok) return caller
    const delivery = await meterOf(account).testWebhook(EVERY_MS)
    return delivery === null ? err(NO_WEBHOOK) : reply(200, inEnvelope({ account, ...delivery }))
  },
)
