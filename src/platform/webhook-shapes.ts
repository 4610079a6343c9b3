// The webhook of an account as the operator's API shows it.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { UnixMs } from './fields.ts'

export const WEBHOOK_PATH = '/admin/accounts/{id}/webhook'

export const Webhook = z
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

export const WEBHOOK_EXAMPLE = {
  account: 'acme',
  url: 'https://example.com/hooks/weir',
  thresholds: ['20%', '5%'],
  armed: ['5%'],
  events: [],
}

export const NO_WEBHOOK: Failure = { kind: 'not_found', what: 'The webhook of this account' }
