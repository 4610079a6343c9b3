// The webhook of an account as its operator and its owner set and see it.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { Thresholds, WebhookUrl } from '../credit/webhooks/webhook.ts'
import { AccountId, UnixMs } from './fields.ts'
import { badField } from './refusal.ts'

export const WEBHOOK_PATH = '/admin/accounts/{id}/webhook'
/** For owners, with a service key: its address may hold a secret. */
export const OWN_WEBHOOK_PATH = '/platform/webhook/'

const THRESHOLDS_TEXT =
  'Balances below which an event is sent: credits, or per cent of the most that the balance was in the plan’s period'

export const Webhook = z
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

export const WEBHOOK_EXAMPLE = {
  account: 'acme',
  url: 'https://example.com/hooks/weir',
  thresholds: ['20%', '5%'],
  armed: ['5%'],
  events: [],
}

export const NO_WEBHOOK: Failure = { kind: 'not_found', what: 'The webhook of this account' }

export const WebhookWithSecret = z.object({
  ...Webhook.shape,
  secret: z.string().nullable().describe('Signs the events; shown this once'),
})
export const WEBHOOK_SET_EXAMPLE = { ...WEBHOOK_EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }

export const SetWebhook = z.strictObject({
  url: WebhookUrl.describe('Where events are sent'),
  thresholds: Thresholds.describe(THRESHOLDS_TEXT),
  new_secret: z.boolean().default(false).describe('Draws another secret in place of the one there is'),
})
export const SET_WEBHOOK_EXAMPLE = { url: WEBHOOK_EXAMPLE.url, thresholds: ['20%', '5%'] }

export const WEBHOOK_TEXT =
  'Once per threshold, at once where the balance is below it, again after a top-up or renewal lifted the balance ' +
  'above it; repeated for a day, signed as Standard Webhooks (1.0.0) has it: `webhook-id`, ' +
  '`webhook-timestamp` and `webhook-signature`, which its libraries verify. The secret is shown when it is drawn.'

/** What came of a test event. */
export const Tested = z.object({
  account: AccountId,
  delivered: z.boolean().describe('The receiver answered with a 2xx'),
  answer: z.string().describe('Its status, or why there was none'),
})
export const TESTED_EXAMPLE = { account: 'acme', delivered: true, answer: '204' }

export const Cleared = z.object({
  account: AccountId,
  cleared: z.literal(true).describe('What was not delivered is dropped'),
})

/** The refusal of an address to which nothing may be sent. */
export function refusedUrl(url: string, urlRefusal: (url: string) => string | null): Failure | null {
  const reason = urlRefusal(url)
  return reason === null ? null : badField('url', reason)
}
