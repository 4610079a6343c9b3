// The webhook of an account as the operator's API shows it.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { AccountId, UnixMs } from './fields.ts'

export const WEBHOOK_PATH = '/admin/accounts/{id}/webhook'

export const THRESHOLDS_TEXT =
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
          threshold: z.string().describe('The one that the balance fell below'),
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
