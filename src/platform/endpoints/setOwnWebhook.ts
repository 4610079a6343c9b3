// PUT /platform/webhook/. Invariants: a secret appears in one answer only, the one that drew it; an owner names no
// address of the operator's own networks, unless the operator allows such.

import { err } from '../../core/result.ts'
import { rootOf } from '../../key/key-row.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { FOR_MANAGING, mayNotManage } from '../own-account.ts'
import {
  OWN_WEBHOOK_PATH,
  refusedUrl,
  SET_WEBHOOK_EXAMPLE,
  SetWebhook,
  WEBHOOK_SET_EXAMPLE,
  WEBHOOK_TEXT,
  WebhookWithSecret,
} from '../webhook-shapes.ts'

export const setOwnWebhook = defineEndpoint(
  {
    id: 'setOwnWebhook',
    method: 'put',
    path: OWN_WEBHOOK_PATH,
    summary: 'Tell an address when the credits of the account run low',
    description: `${FOR_MANAGING} ${WEBHOOK_TEXT}`,
    door: 'service',
    body: { schema: SetWebhook, optional: false, example: SET_WEBHOOK_EXAMPLE },
    answers: {
      200: {
        description: 'The webhook; `secret` is null where it was drawn before',
        schema: enveloped(WebhookWithSecret),
        example: inEnvelope(WEBHOOK_SET_EXAMPLE),
      },
    },
    refusals: [400],
  },
  async ({ body, identity: { account, keyHash } }, { keys, meterOf, urlRefusal }) => {
    const key = await keys.hashed(keyHash)
    const refused = mayNotManage(key) ?? refusedUrl(body.url, urlRefusal)
    if (refused !== null) return err(refused)
    const { new_secret: newSecret, ...order } = body
    const webhook = await meterOf(account).setWebhook({ account, by: key && rootOf(key), ...order, newSecret })
    return reply(200, inEnvelope({ account, ...webhook }))
  },
)
