// PUT /admin/accounts/{id}/webhook. Laws: a secret appears in one answer only, the one that drew it; plain http only
// where the operator allows it.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { Thresholds, WebhookUrl } from '../../credit/webhooks/webhook.ts'
import { ACCOUNT_PARAMS } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { badField } from '../refusal.ts'
import { THRESHOLDS_TEXT, WEBHOOK_EXAMPLE, WEBHOOK_PATH, Webhook } from '../webhook-shapes.ts'

const SetWebhook = z.strictObject({
  url: WebhookUrl.describe('Where events are sent'),
  thresholds: Thresholds.describe(THRESHOLDS_TEXT),
  new_secret: z.boolean().default(false).describe('Draws another secret in place of the one there is'),
})

export const setWebhook = defineEndpoint(
  {
    id: 'setWebhook',
    method: 'put',
    path: WEBHOOK_PATH,
    summary: 'Tell an address when the credits of an account run low',
    description:
      'Once per threshold, at once where the balance is below it, again after a top-up or renewal lifted the balance ' +
      'above it; repeated for a day, signed as Standard Webhooks (1.0.0) has it: `webhook-id`, ' +
      '`webhook-timestamp` and `webhook-signature`, which its libraries verify. The secret is shown when it is drawn.',
    door: 'admin',
    params: ACCOUNT_PARAMS,
    body: {
      schema: SetWebhook,
      optional: false,
      example: { url: WEBHOOK_EXAMPLE.url, thresholds: ['20%', '5%'] },
    },
    answers: {
      200: {
        description: 'The webhook; `secret` is null where it was drawn before',
        schema: z.object({
          ...Webhook.shape,
          secret: z.string().nullable().describe('Signs the events; shown this once'),
        }),
        example: { ...WEBHOOK_EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, body }, { accounts, meterOf, isHttpAllowed }) => {
    const { url, thresholds, new_secret: newSecret } = body
    if (!/^https:/i.test(url) && !isHttpAllowed) {
      return err(badField('url', 'must be https (plain http needs WEBHOOK_HTTP=on)'))
    }
    const missing = await accounts.missing(id)
    if (missing !== null) return err(missing)
    const webhook = await meterOf(id).setWebhook({ account: id, url, thresholds, newSecret })
    return reply(200, { account: id, ...webhook })
  },
)
