// What a key may ask about itself.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import { PRODUCTS } from '../key/identity.ts'
import { UnixMs } from './fields.ts'
import { ShownLimits } from './plan-requests.ts'

const Day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .describe('A UTC day')
const Credits = z.number().describe('Credits, to the millionth')

/** Every answer of the platform. */
const enveloped = <Data extends z.ZodType>(data: Data) =>
  z.object({ data, error: z.literal(false), error_message: z.null(), error_code: z.null() })
const envelope = (data: object) => ({ data, error: false, error_message: null, error_code: null })

const Usage = z
  .object({
    period: z.object({ from: Day, to: Day }),
    by_day: z
      .array(z.object({ date: Day, premium_credits: Credits, free_credits: Credits, calls: z.int() }))
      .describe('Days with any use'),
    aggregate: z.object({
      credits_consumed: Credits,
      premium_credits: Credits,
      free_credits: Credits,
      max_credits: Credits.nullable().describe('Given by the plan for its present period'),
      plan: z.string(),
      flex_credits: z.object({ limit: z.number() }),
    }),
    by_api_key: z.array(
      z.object({
        apikey: z.string().describe('The key’s first twelve characters'),
        label: z.string(),
        credits_consumed: Credits,
        calls: z.int(),
      }),
    ),
  })
  .meta({ id: 'Usage' })

const OwnKey = z
  .object({
    apikey: z.string().nullable(),
    label: z.string(),
    kind: z.enum(['api', 'service']),
    products: z.array(z.enum(PRODUCTS)),
    created: UnixMs.nullable(),
    expires: UnixMs.nullable(),
    account: z.string(),
    plan: z.string(),
    credits_remaining: Credits,
    credits_spent: Credits,
    period: z.object({ from: UnixMs, to: UnixMs.nullable(), credits: Credits }).nullable(),
    limits: ShownLimits,
  })
  .meta({ id: 'OwnKey' })

const UsageQuery = z.strictObject({
  duration: z.enum(['1', '3', '6', '12']).optional().describe('Months back from today; goes without `from` and `to`'),
  from: Day.optional().describe('First UTC day; needs no `to`, which is today then'),
  to: Day.optional().describe('Last UTC day, included; at most 400 days after `from`'),
})

export const PLATFORM_OPERATIONS: readonly Operation[] = [
  {
    id: 'usage',
    method: 'get',
    path: '/platform/usage/',
    summary: 'What the account used, per day and per key',
    description: 'Free of charge, with an API or a service key, with or without the last slash.',
    door: 'key',
    query: UsageQuery,
    answers: {
      200: {
        description: 'The report',
        schema: enveloped(Usage),
        example: envelope({
          period: { from: '2026-10-22', to: '2026-11-22' },
          by_day: [{ date: '2026-11-21', premium_credits: 3.13, free_credits: 0, calls: 4 }],
          aggregate: {
            credits_consumed: 3.13,
            premium_credits: 3.13,
            free_credits: 0,
            max_credits: 10000,
            plan: 'entry',
            flex_credits: { limit: 0 },
          },
          by_api_key: [{ apikey: 'cqt_9fKxWq2T', label: 'bot', credits_consumed: 3.13, calls: 4 }],
        }),
      },
    },
    refusals: [400],
  },
  {
    id: 'ownKey',
    method: 'get',
    path: '/platform/key/',
    summary: 'The key itself: its account’s balance, its plan and its limits',
    description: 'Free of charge, with an API or a service key, with or without the last slash.',
    door: 'key',
    answers: {
      200: {
        description: 'The key',
        schema: enveloped(OwnKey),
        example: envelope({
          apikey: 'cqt_9fKxWq2T',
          label: 'bot',
          kind: 'api',
          products: ['info', 'stream', 'platform'],
          created: 1790000000000,
          expires: null,
          account: 'acme',
          plan: 'entry',
          credits_remaining: 9996.87,
          credits_spent: 3.13,
          period: { from: 1790000000000, to: 1792540800000, credits: 10000 },
          limits: {
            requests_per_second: 4,
            info_requests_per_second: 1000,
            stream_connections: 100,
            stream_subscriptions: 1000,
            stream_messages_per_minute: 2000,
          },
        }),
      },
    },
    refusals: [],
  },
]
