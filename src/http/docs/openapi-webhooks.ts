// What is sent to the webhooks of accounts, as `webhooks` of the OpenAPI document.

import type * as z from 'zod'
import { LowBalanceEvent, PipelinePausedEvent, TestEvent } from '../../metering/webhooks/webhook.ts'
import { schemaOf } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'The event: the same at every attempt',
  'webhook-timestamp': 'Of this attempt, Unix seconds',
  'webhook-signature':
    '`v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`, as Standard Webhooks has it',
}

interface Sent {
  readonly schema: z.ZodType
  readonly summary: string
  readonly example: Json & { readonly type: string }
}

const EXAMPLE = { id: 'evt_5a1f7a6e-7c0e-4d3b-9a3e-111111111111', account: 'acme', created: 1790000000000 }

/** Every kind of event. */
export const EVENTS: readonly Sent[] = [
  {
    schema: LowBalanceEvent,
    summary: 'The credits of an account run low',
    example: {
      ...EXAMPLE,
      type: 'credits.low',
      threshold: '20%',
      credits_left: '1999.87',
      credits_at_most: '10000',
    },
  },
  {
    schema: PipelinePausedEvent,
    summary: 'A pipeline was paused, because the key that it was charged to was revoked or has expired',
    example: {
      ...EXAMPLE,
      id: 'evt_pipe_9fKxWq2TbNkRzd5mYvHs4u_1790000000000',
      type: 'pipeline.paused',
      pipeline: 'pipe_9fKxWq2TbNkRzd5mYvHs4u',
      name: 'fills of two wallets',
      reason: 'key_revoked',
      key_hash: 'a1'.repeat(32),
      key_ended: 1790000000000,
    },
  },
  {
    schema: TestEvent,
    summary: 'The operator looks whether events arrive; sent once',
    example: { ...EXAMPLE, type: 'test' },
  },
]

/** By the type of the event. */
export function eventWebhooks(shared: Map<string, unknown>): Json {
  const parameters = Object.entries(HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }))
  const described = ({ schema, summary, example }: Sent): [string, Json] => [
    example.type,
    {
      post: {
        operationId: `on.${example.type}`,
        summary,
        security: [],
        parameters,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(schema, shared), example } },
        },
        responses: { '2XX': { description: 'It arrived. After anything else it is sent again, for a day' } },
      },
    },
  ]
  return Object.fromEntries(EVENTS.map(described))
}
