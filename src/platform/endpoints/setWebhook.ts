// PUT /admin/accounts/{id}/webhook. Laws: a secret appears in one answer only, the one that drew it; plain http only
// where the operator allows it.

import { err } from '../../core/result.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import {
  refusedUrl,
  SET_WEBHOOK_EXAMPLE,
  SetWebhook,
  WEBHOOK_PATH,
  WEBHOOK_SET_EXAMPLE,
  WEBHOOK_TEXT,
  WebhookWithSecret,
} from '../webhook-shapes.ts'

export const setWebhook = defineEndpoint(
  {
    id: 'setWebhook',
    method: 'put',
    path: WEBHOOK_PATH,
    summary: 'Tell an address when the credits of an account run low',
    description: WEBHOOK_TEXT,
    door: 'admin',
    params: ACCOUNT_PARAMS,
    body: { schema: SetWebhook, optional: false, example: SET_WEBHOOK_EXAMPLE },
    answers: {
      200: {
        description: 'The webhook; `secret` is null where it was drawn before',
        schema: WebhookWithSecret,
        example: WEBHOOK_SET_EXAMPLE,
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, body }, { accounts, meterOf, urlRefusal }) => {
    const refused = refusedUrl(body.url, urlRefusal)
    if (refused !== null) return err(refused)
    const missing = await accounts.missing(id)
    if (missing !== null) return err(missing)
    const { new_secret: newSecret, ...order } = body
    const webhook = await meterOf(id).setWebhook({ account: id, by: null, ...order, newSecret })
    return reply(200, { account: id, ...webhook })
  },
)
