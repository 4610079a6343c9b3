// The operator's operations on the webhook of an account.

import * as z from 'zod'
import { Thresholds, WebhookUrl } from '../credit/webhooks/webhook.ts'
import type { Operation } from '../edge/operation.ts'
import { AccountId, UnixMs } from './fields.ts'

export const SetWebhook = z.strictObject({
  url: WebhookUrl,
  thresholds: Thresholds,
  new_secret: z.boolean().default(false),
})

const Webhook = z
  .object({
    account: z.string(),
    url: z.string(),
    thresholds: z.array(z.string()),
    armed: z.array(z.string()).describe('Thresholds that the balance is above: the next to be told'),
    events: z.array(
      z.object({
        id: z.string(),
        threshold: z.string(),
        created: UnixMs,
        state: z.enum(['due', 'delivered', 'given_up']),
        attempts: z.int(),
        next: UnixMs.nullable().describe('The next attempt'),
        last: z.string().nullable().describe('What came of the last attempt'),
      }),
    ),
  })
  .meta({ id: 'Webhook' })
const EXAMPLE = {
  account: 'acme',
  url: 'https://example.com/hooks/weir',
  thresholds: ['20%', '5%'],
  armed: ['5%'],
  events: [],
}

const door = 'admin'
const params = { id: AccountId }
const path = '/admin/accounts/{id}/webhook'
const refusals = [404] as const

export const SET_WEBHOOK = {
  id: 'setWebhook',
  method: 'put',
  path,
  summary: 'Tell an address when the credits of an account run low',
  description: 'Once per threshold and period, signed, repeated for a day. The secret is shown when it is drawn.',
  door,
  params,
  body: { schema: SetWebhook, optional: false, example: { url: EXAMPLE.url, thresholds: ['20%', '5%'] } },
  answers: {
    200: {
      description: 'The webhook; `secret` is null where it was drawn before',
      schema: z.object({ ...Webhook.shape, secret: z.string().nullable() }),
      example: { ...EXAMPLE, secret: 'whsec_2nVhkP0bq6c' },
    },
  },
  refusals,
} as const satisfies Operation

export const SHOW_WEBHOOK = {
  id: 'showWebhook',
  method: 'get',
  path,
  summary: 'The webhook of an account and what became of its events',
  door,
  params,
  answers: { 200: { description: 'The webhook', schema: Webhook, example: EXAMPLE } },
  refusals,
} as const satisfies Operation

export const CLEAR_WEBHOOK = {
  id: 'clearWebhook',
  method: 'delete',
  path,
  summary: 'Tell nobody any more',
  door,
  params,
  answers: {
    200: {
      description: 'Cleared; what was not delivered is dropped',
      schema: z.object({ account: z.string(), cleared: z.literal(true) }),
      example: { account: 'acme', cleared: true },
    },
  },
  refusals,
} as const satisfies Operation

export const TEST_WEBHOOK = {
  id: 'testWebhook',
  method: 'post',
  path: `${path}/test`,
  summary: 'Send a test event now, once',
  door,
  params,
  answers: {
    200: {
      description: 'What came of it',
      schema: z.object({ account: z.string(), delivered: z.boolean(), answer: z.string() }),
      example: { account: 'acme', delivered: true, answer: '204' },
    },
  },
  refusals,
} as const satisfies Operation
