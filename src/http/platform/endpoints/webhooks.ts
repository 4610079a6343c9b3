// Webhook endpoints of an account, for the operator and for the owner with a service key. Invariants: a secret appears
// only in the response that generated it; plain HTTP and private addresses need the operator's permission.

import * as z from 'zod'
import type { Failure } from '../../../core/failure.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { ALERT_TYPES, Thresholds, WebhookUrl } from '../../../metering/webhooks/webhook.ts'
import { ACCOUNT, ACCOUNT_PARAMS, adminAndOwnEndpoints, MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { badField } from '../refusal.ts'

const PATH = '/admin/accounts/{id}/webhook'
/** Owners need a service key, because the URL may contain a secret. */
const OWN_PATH = '/platform/webhook/'
/** Rate limit of tests by owners, because each test calls a third-party server. */
const OWNERS_TEST_EVERY_MS = 10_000

const THRESHOLDS_TEXT =
  'Balances below which an event is sent. Each is a number of credits, or a percentage of the highest balance in the plan’s period'

const Webhook = z
  .object({
    account: AccountId,
    url: z.string().describe('Webhook URL'),
    thresholds: z.array(z.string()).describe(THRESHOLDS_TEXT),
    armed: z
      .array(z.string())
      .describe('Thresholds below the current balance, each of which sends an event when the balance falls below it'),
    events: z
      .array(
        z.object({
          id: z.string().describe('Event id (`webhook-id`), the same on every attempt'),
          type: z.enum(['credits.low', 'pipeline.paused', 'top_up.stopped', ...ALERT_TYPES]).describe('Event type'),
          threshold: z.string().nullable().describe('Crossed threshold; null: not a balance event'),
          created: UnixMs.describe('Time of the event, Unix milliseconds'),
          state: z
            .enum(['due', 'delivered', 'given_up'])
            .describe('`due`: to be sent or retried; `given_up`: no 2xx response for one day'),
          attempts: z.int().describe('Number of attempts'),
          next: UnixMs.nullable().describe('Next attempt, Unix milliseconds; null: none'),
          last: z.string().nullable().describe('Result of the last attempt; null: none'),
        }),
      )
      .describe('Events, newest first, at most 100'),
  })
  .meta({ id: 'Webhook' })

const NO_WEBHOOK: Failure = { kind: 'not_found', what: 'The webhook of this account' }

const WebhookWithSecret = z.object({
  ...Webhook.shape,
  secret: z.string().nullable().describe('Signing secret, shown only once; null: unchanged'),
})
const SetWebhook = z.strictObject({
  url: WebhookUrl.describe('Webhook URL'),
  thresholds: Thresholds.describe(THRESHOLDS_TEXT),
  new_secret: z.boolean().default(false).describe('Whether to generate a new secret'),
})
const WEBHOOK_TEXT =
  'The webhook receives one event per threshold, immediately if the balance is already below it. After a top-up or renewal raises the balance above the threshold, the next fall below it sends a new event. Failed deliveries are retried for one day. Events are signed as defined by Standard Webhooks 1.0.0 (`webhook-id`, `webhook-timestamp`, `webhook-signature`); its libraries verify them. The secret is shown only when it is generated.'

const TestResult = z.object({
  account: AccountId,
  delivered: z.boolean().describe('Whether the receiver returned a 2xx status'),
  answer: z.string().describe('Status of the response, or why there was none'),
})
const ClearResult = z.object({
  account: AccountId,
  cleared: z.literal(true).describe('Whether the webhook was removed; always true'),
})

const [setWebhook, setOwnWebhook] = adminAndOwnEndpoints(ACCOUNT, {
  body: {
    schema: SetWebhook,
    optional: false,
    example: { url: 'https://example.com/hooks/weir', thresholds: ['20%', '5%'] },
  },
  responses: okResponse('The webhook; `secret` is null if it is unchanged', WebhookWithSecret),
  admin: {
    id: 'setWebhook',
    route: `PUT ${PATH}`,
    summary: 'Set the webhook of an account',
    description: WEBHOOK_TEXT,
  },
  own: {
    id: 'setOwnWebhook',
    route: `PUT ${OWN_PATH}`,
    summary: 'Set the webhook',
    description: WEBHOOK_TEXT,
  },
  handle: async ({ account, author, body }, { meterOf, urlRefusal }) => {
    const refused = urlRefusal(body.url)
    if (refused !== null) return err(badField('url', refused))
    const { new_secret: newSecret, ...order } = body
    const by = author?.root ?? null
    return reply(200, { account, ...(await meterOf(account).setWebhook({ account, by, ...order, newSecret })) })
  },
})

const showWebhook = defineEndpoint({
  id: 'showWebhook',
  route: `GET ${PATH}`,
  summary: 'Show the webhook of an account and its events',
  // The URL may contain a secret.
  role: 'owner',
  params: ACCOUNT_PARAMS,
  responses: okResponse('The webhook', Webhook),
  handle: async (call, platform) => {
    const target = await ACCOUNT.adminTarget(call, platform)
    if (!target.ok) return target
    const { account } = target.value
    const webhook = await platform.meterOf(account).webhook()
    return webhook === null ? err(NO_WEBHOOK) : reply(200, { account, ...webhook })
  },
})

const ownWebhook = defineEndpoint({
  id: 'ownWebhook',
  route: `GET ${OWN_PATH}`,
  summary: 'Show the webhook and its events',
  description: `${MANAGE_ACCESS_TEXT} The URL may contain a secret.`,
  auth: 'service',
  responses: okResponse('The webhook', z.object({ webhook: Webhook.nullable().describe('Webhook; null: none') })),
  handle: async ({ identity: { account, keyHash } }, { keys, meterOf }) => {
    const caller = await managingKey(keys, keyHash)
    if (!caller.ok) return caller
    const webhook = await meterOf(account).webhook()
    return reply(200, { webhook: webhook === null ? null : { account, ...webhook } })
  },
})

const [testWebhook, testOwnWebhook] = adminAndOwnEndpoints(ACCOUNT, {
  responses: okResponse('The test result', TestResult),
  admin: { id: 'testWebhook', route: `POST ${PATH}/test`, summary: 'Send a test event to the webhook of an account' },
  own: {
    id: 'testOwnWebhook',
    route: `POST ${OWN_PATH}test`,
    summary: 'Send a test event to the webhook',
    description: 'At most one test every 10 s.',
    refusals: [404],
  },
  handle: async ({ account, author }, { meterOf }) => {
    const delivery = await meterOf(account).testWebhook(author === null ? undefined : OWNERS_TEST_EVERY_MS)
    return delivery === null ? err(NO_WEBHOOK) : reply(200, { account, ...delivery })
  },
})

const [clearWebhook, clearOwnWebhook] = adminAndOwnEndpoints(ACCOUNT, {
  responses: okResponse('The webhook is removed; undelivered events are dropped', ClearResult),
  admin: { id: 'clearWebhook', route: `DELETE ${PATH}`, summary: 'Remove the webhook of an account' },
  own: {
    id: 'clearOwnWebhook',
    route: `DELETE ${OWN_PATH}`,
    summary: 'Remove the webhook',
    refusals: [404],
  },
  handle: async ({ account }, { meterOf }) =>
    (await meterOf(account).clearWebhook()) ? reply(200, { account, cleared: true }) : err(NO_WEBHOOK),
})

export const WEBHOOKS = [
  ownWebhook,
  setOwnWebhook,
  testOwnWebhook,
  clearOwnWebhook,
  showWebhook,
  setWebhook,
  testWebhook,
  clearWebhook,
]
