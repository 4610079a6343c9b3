// The webhook of an account: for its operator, and for its owner with a service key. Invariants: a secret appears in one answer
// only, the one that drew it; plain http and addresses of the operator's own networks only where the operator allows them.

import * as z from 'zod'
import type { Failure } from '../../../core/failure.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { Thresholds, WebhookUrl } from '../../../metering/webhooks/webhook.ts'
import { ACCOUNT, ACCOUNT_PARAMS, adminAndOwnEndpoints, MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { badField } from '../refusal.ts'

const PATH = '/admin/accounts/{id}/webhook'
/** For owners, with a service key: its address may hold a secret. */
const OWN_PATH = '/platform/webhook/'
/** A test asks another's server, whenever somebody likes. */
const OWNERS_TEST_EVERY_MS = 10_000

const THRESHOLDS_TEXT =
  'Balances below which an event is sent: credits, or per cent of the most that the balance was in the plan’s period'

const Webhook = z
  .object({
    account: AccountId,
    url: z.string().describe('Where events are sent'),
    thresholds: z.array(z.string()).describe(THRESHOLDS_TEXT),
    armed: z.array(z.string()).describe('Thresholds that the balance is above: the next to be told'),
    events: z
      .array(
        z.object({
          id: z.string().describe('The same at every attempt: `webhook-id`'),
          type: z.enum(['credits.low', 'pipeline.paused']).describe('What it says'),
          threshold: z
            .string()
            .nullable()
            .describe('The one that the balance fell below; null: the event is about no balance'),
          created: UnixMs.describe('When that was, Unix milliseconds'),
          state: z
            .enum(['due', 'delivered', 'given_up'])
            .describe('`due`: to be sent, or sent again; `given_up`: no 2xx came for a day'),
          attempts: z.int().describe('How often it was sent'),
          next: UnixMs.nullable().describe('The next attempt, Unix milliseconds; null: there is none'),
          last: z.string().nullable().describe('What came of the last attempt; null: there was none'),
        }),
      )
      .describe('Newest first, at most 100'),
  })
  .meta({ id: 'Webhook' })

const NO_WEBHOOK: Failure = { kind: 'not_found', what: 'The webhook of this account' }

const WebhookWithSecret = z.object({
  ...Webhook.shape,
  secret: z.string().nullable().describe('Signs the events; shown this once'),
})
const SetWebhook = z.strictObject({
  url: WebhookUrl.describe('Where events are sent'),
  thresholds: Thresholds.describe(THRESHOLDS_TEXT),
  new_secret: z.boolean().default(false).describe('Draws another secret in place of the one there is'),
})
const WEBHOOK_TEXT =
  'Once per threshold, at once where the balance is below it, again after a top-up or renewal lifted the balance ' +
  'above it; repeated for a day, signed as Standard Webhooks (1.0.0) has it: `webhook-id`, ' +
  '`webhook-timestamp` and `webhook-signature`, which its libraries verify. The secret is shown when it is drawn.'

const TestResult = z.object({
  account: AccountId,
  delivered: z.boolean().describe('The receiver answered with a 2xx'),
  answer: z.string().describe('Its status, or why there was none'),
})
const ClearResult = z.object({
  account: AccountId,
  cleared: z.literal(true).describe('What was not delivered is dropped'),
})

const [setWebhook, setOwnWebhook] = adminAndOwnEndpoints(ACCOUNT, {
  body: {
    schema: SetWebhook,
    optional: false,
    example: { url: 'https://example.com/hooks/weir', thresholds: ['20%', '5%'] },
  },
  responses: okResponse('The webhook; `secret` is null where it was drawn before', WebhookWithSecret),
  admin: {
    id: 'setWebhook',
    route: `PUT ${PATH}`,
    summary: 'Tell an address when the credits of an account run low',
    description: WEBHOOK_TEXT,
  },
  own: {
    id: 'setOwnWebhook',
    route: `PUT ${OWN_PATH}`,
    summary: 'Tell an address when the credits of the account run low',
    description: WEBHOOK_TEXT,
  },
  handle: async ({ account, by, body }, { meterOf, urlRefusal }) => {
    const refused = urlRefusal(body.url)
    if (refused !== null) return err(badField('url', refused))
    const { new_secret: newSecret, ...order } = body
    return reply(200, { account, ...(await meterOf(account).setWebhook({ account, by, ...order, newSecret })) })
  },
})

const showWebhook = defineEndpoint({
  id: 'showWebhook',
  route: `GET ${PATH}`,
  summary: 'The webhook of an account and what became of its events',
  // The address may hold a secret.
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
  summary: 'The webhook of the account and what became of its events',
  description: `${MANAGE_ACCESS_TEXT} The address may hold a secret.`,
  auth: 'service',
  responses: okResponse(
    'The webhook',
    z.object({ webhook: Webhook.nullable().describe('Null if the account has no webhook') }),
  ),
  handle: async ({ identity: { account, keyHash } }, { keys, meterOf }) => {
    const caller = await managingKey(keys, keyHash)
    if (!caller.ok) return caller
    const webhook = await meterOf(account).webhook()
    return reply(200, { webhook: webhook === null ? null : { account, ...webhook } })
  },
})

const [testWebhook, testOwnWebhook] = adminAndOwnEndpoints(ACCOUNT, {
  responses: okResponse('What came of it', TestResult),
  admin: { id: 'testWebhook', route: `POST ${PATH}/test`, summary: 'Send a test event now, once' },
  own: {
    id: 'testOwnWebhook',
    route: `POST ${OWN_PATH}test`,
    summary: 'Send a test event to the account’s webhook now, once',
    description: 'At most one every ten seconds.',
    refusals: [404],
  },
  handle: async ({ account, by }, { meterOf }) => {
    const delivery = await meterOf(account).testWebhook(by === null ? undefined : OWNERS_TEST_EVERY_MS)
    return delivery === null ? err(NO_WEBHOOK) : reply(200, { account, ...delivery })
  },
})

const [clearWebhook, clearOwnWebhook] = adminAndOwnEndpoints(ACCOUNT, {
  responses: okResponse('Cleared; what was not delivered is dropped', ClearResult),
  admin: { id: 'clearWebhook', route: `DELETE ${PATH}`, summary: 'Tell nobody any more' },
  own: {
    id: 'clearOwnWebhook',
    route: `DELETE ${OWN_PATH}`,
    summary: 'Tell nobody any more of the account’s credits',
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
