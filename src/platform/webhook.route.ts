// The webhook of an account in the operator's API, which has checked the caller. Laws: a secret appears in one answer
// only, the one that drew it; plain http only where the operator allows it.

import { Hono } from 'hono'
import type { Failure } from '../core/failure.ts'
import { parseWith } from '../core/schema-words.ts'
import type { WebhookApi } from '../credit/webhooks/webhook-api.ts'
import { readJsonBody } from '../edge/body.ts'
import { restFailure } from '../edge/failure-wire.ts'
import { newRequestId } from '../edge/request-id.ts'
import { AccountStore } from '../key/accounts.store.ts'
import { SetWebhook } from './webhook-operations.ts'

export interface WebhookEnv {
  readonly ACCOUNTS: D1Database
}

const BODY_MAX_BYTES = 16 * 1024

/** `PUT`, `GET` and `DELETE /accounts/:id/webhook`, and `POST /accounts/:id/webhook/test`. */
export function webhookRoutes<Env extends WebhookEnv>(
  meterOf: (env: Env, account: string) => WebhookApi,
  isHttpAllowed: boolean,
) {
  const app = new Hono<{ Bindings: Env }>()

  app.put('/accounts/:id/webhook', async (c) => {
    const { body, headers } = c.req.raw
    const json = await readJsonBody({ chunks: body, contentLength: headers.get('content-length') }, BODY_MAX_BYTES)
    if (!json.ok) return refuse(json.error)
    const order = parseWith(SetWebhook, json.value)
    if (!order.ok) return refuse({ kind: 'bad_field', issues: order.error })
    const { url, thresholds, new_secret: newSecret } = order.value
    if (!/^https:/i.test(url) && !isHttpAllowed) {
      const message = 'must be https (plain http needs WEBHOOK_HTTP=on)'
      return refuse({ kind: 'bad_field', issues: [{ path: 'url', message }] })
    }
    const account = c.req.param('id')
    if (!(await isAccount(c.env, account))) return refuse(NO_ACCOUNT)
    const webhook = await meterOf(c.env, account).setWebhook({ account, url, thresholds, newSecret })
    return c.json({ account, ...webhook })
  })

  app.get('/accounts/:id/webhook', async (c) => {
    const account = c.req.param('id')
    if (!(await isAccount(c.env, account))) return refuse(NO_ACCOUNT)
    const webhook = await meterOf(c.env, account).webhook()
    return webhook === null ? refuse(NO_WEBHOOK) : c.json({ account, ...webhook })
  })

  app.post('/accounts/:id/webhook/test', async (c) => {
    const account = c.req.param('id')
    if (!(await isAccount(c.env, account))) return refuse(NO_ACCOUNT)
    const delivery = await meterOf(c.env, account).testWebhook()
    return delivery === null ? refuse(NO_WEBHOOK) : c.json({ account, ...delivery })
  })

  app.delete('/accounts/:id/webhook', async (c) => {
    const account = c.req.param('id')
    if (!(await isAccount(c.env, account))) return refuse(NO_ACCOUNT)
    return (await meterOf(c.env, account).clearWebhook()) ? c.json({ account, cleared: true }) : refuse(NO_WEBHOOK)
  })
  return app
}

const NO_ACCOUNT: Failure = { kind: 'not_found', what: 'This account' }
const NO_WEBHOOK: Failure = { kind: 'not_found', what: 'The webhook of this account' }

/** Asked first, so that a name nobody has makes no object. */
async function isAccount(env: WebhookEnv, id: string): Promise<boolean> {
  return (await new AccountStore(env.ACCOUNTS).account(id)) !== null
}

function refuse(failure: Failure): Response {
  const id = newRequestId((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
  const { status, headers, body } = restFailure(failure, id)
  return new Response(body, { status, headers })
}
