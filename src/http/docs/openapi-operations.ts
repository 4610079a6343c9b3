// OpenAPI paths of the operator's API and the platform, and the webhook events.

import * as z from 'zod'
import { MEMBER_ROLES } from '../../accounts/members.ts'
import { formatCredits } from '../../core/amount.ts'
import { AlertFiredEvent, AlertResolvedEvent, AlertTestEvent } from '../../metering/alerts/alert-event.ts'
import { LowBalanceEvent, PipelinePausedEvent, TestEvent, TopUpStoppedEvent } from '../../metering/webhooks/webhook.ts'
import { type Operation, roleFor } from '../operation.ts'
import { OPERATION_ROLES } from '../platform/operation-roles.ts'
import { jsonContent, mapped, ref, schemaOf } from './json-schema.ts'
import { PAYMENT_TEXT } from './openapi-x402.ts'

type Json = Readonly<Record<string, unknown>>
type Shared = Map<string, unknown>

const Refusal = z
  .object({ error: z.literal(true), error_message: z.string(), error_code: z.string() })
  .meta({ id: 'PlatformRefusal' })

export const OPERATION_REFUSALS: Readonly<Record<number, string>> = {
  400: 'A field is invalid; `error_message` names it',
  401: 'The token or key is missing or invalid',
  402: `Not enough credits. ${PAYMENT_TEXT}`,
  403: 'The key, or the role of the member or operator, does not allow this call',
  404: 'Unknown account, key, plan, pipeline or endpoint',
  409: 'Conflict with the current state; `error_message` names the field',
  413: 'The body exceeds 16 KiB, or the limit given by the operation',
  429: 'Too many requests; `error_message` names the limit, such as `rest_requests_per_second` of the plan; see `retry-after`',
  500: 'Internal error; quote the request id when you report it',
  503: 'A part of the gateway is unreachable; see `retry-after`',
}
const KEY_REFUSALS = [401, 403, 429, 500, 503]
const REFUSALS_BY_AUTH = { admin: [400, 401, 403, 404, 500, 503], key: KEY_REFUSALS, service: KEY_REFUSALS } as const

/** Operations grouped by path. */
export function operationPaths(operations: readonly Operation[], shared: Shared): Record<string, Json> {
  return mapped(Object.groupBy(operations, ({ path }) => path) as Record<string, Operation[]>, (ofPath) =>
    Object.fromEntries(ofPath.map((operation) => [operation.method, openApiOperation(operation, shared)])),
  )
}

/** Shared error responses that the operations reference. */
export function operationRefusals(shared: Shared): Record<string, Json> {
  const content = jsonContent({ schema: schemaOf(Refusal, shared) })
  return Object.fromEntries(
    Object.entries(OPERATION_REFUSALS).map(([status, description]) => {
      const headers = { 'payment-required': ref('headers', 'payment-required') }
      return [responseName(status), { description, ...(status === '402' && { headers }), content }]
    }),
  )
}

function openApiOperation(operation: Operation, shared: Shared): Json {
  const { id, summary, auth, product = 'platform', params = {}, query, body, responses } = operation
  const description = operationText(operation)
  const parameters = [
    ...Object.entries(params).map(([name, schema]) => parameter(name, 'path', schemaOf(schema, shared), true)),
    ...(query === undefined ? [] : queryParameters(query, shared)),
  ]
  return {
    operationId: id,
    tags: [auth === 'admin' ? 'operator' : product],
    summary,
    ...(description === '' ? {} : { description }),
    security: [{ [auth]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: content(body.schema, body.example, shared, mediaOf(body)),
      },
    }),
    responses: {
      ...mapped(responses, ({ description: what, schema, example }) => ({
        description: what,
        content: content(schema, example, shared),
      })),
      ...Object.fromEntries(
        refusalStatuses(operation).map((status) => [status, ref('responses', responseName(status))]),
      ),
    },
  }
}

/** Error statuses implied by authentication, input and price, and those that the operation lists. */
export function refusalStatuses({ auth, price, priceText, params = {}, query, body, refusals }: Operation): number[] {
  const parts = Object.values(params)
  const isRead = query !== undefined || body !== undefined || parts.some((part) => !part.safeParse('').success)
  const ofInput = [...(isRead ? [400] : []), ...(parts.length > 0 ? [404] : []), ...(body === undefined ? [] : [413])]
  const ofPrice = price === undefined && priceText === undefined ? [] : [402]
  return [...new Set<number>([...REFUSALS_BY_AUTH[auth], ...refusals, ...ofInput, ...ofPrice])].sort()
}

function queryParameters(query: z.ZodType, shared: Shared): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, shared) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => parameter(name, 'query', schema, required.includes(name)))
}

function parameter(name: string, location: 'path' | 'query', schema: Json, required: boolean): Json {
  return { name, in: location, required, schema }
}

const mediaOf = ({ gzipBytes, isBinary }: NonNullable<Operation['body']>) =>
  gzipBytes !== undefined || isBinary === true ? 'application/gzip' : undefined

function content(schema: z.ZodType, example: unknown, shared: Shared, media?: string): Json {
  const type = media || (schema instanceof z.ZodString ? 'text/plain' : 'application/json')
  return { [type]: { schema: schemaOf(schema, shared), example } }
}

function responseName(status: string | number): string {
  return `platform-${status}`
}

/** Roles of members that may call an operation; empty: all, or none because it is the operator's. */
function memberRolesText({ id, auth }: Operation): string {
  const roles = OPERATION_ROLES[id] ?? []
  if (auth === 'admin' || roles.length >= MEMBER_ROLES.length - 1) return ''
  return `Members need the role ${[...roles, 'owner'].map((role) => `\`${role}\``).join(' or ')}.`
}

/** Description of an operation: its text, required key or role, and price. */
export function operationText(operation: Operation): string {
  const { description = '', auth, acceptsAnyKey = false, price = 0, priceText = formatCredits(price) } = operation
  const role = auth === 'admin' ? `Requires the role \`${roleFor(operation)}\`.` : ''
  const key =
    auth === 'service'
      ? 'Requires a service key.'
      : acceptsAnyKey
        ? 'Accepts any key, regardless of its products.'
        : role
  const cost = priceText === '0' ? '' : `Credits: ${priceText}.`
  return [description, key, memberRolesText(operation), cost].filter((part) => part !== '').join(' ')
}

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Event id, the same on every attempt',
  'webhook-timestamp': 'Time of this attempt, Unix seconds',
  'webhook-signature':
    '`v1,` followed by the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`, as defined by Standard Webhooks',
}

interface WebhookEvent {
  readonly schema: z.ZodType
  readonly summary: string
  readonly example: Json & { readonly type: string }
}

const EXAMPLE = { id: 'evt_5a1f7a6e-7c0e-4d3b-9a3e-111111111111', account: 'acme', created: 1790000000000 }

const ALERT_EXAMPLE = {
  ...EXAMPLE,
  rule: 'alr_5a1f7a6e-7c0e-4d3b-9a3e-111111111111',
  name: 'Errors of the bot',
  condition: { type: 'errors', statuses: '5xx', percent: 5, calls: 100, minutes: 15, key: null },
  message: '12 of 150 calls in 15 minutes had status 5xx (8.0%).',
}

export const EVENTS: readonly WebhookEvent[] = [
  {
    schema: LowBalanceEvent,
    summary: 'The credits of an account run low',
    example: { ...EXAMPLE, type: 'credits.low', threshold: '20%', credits_left: '1999.87', credits_at_most: '10000' },
  },
  {
    schema: PipelinePausedEvent,
    summary: 'A pipeline was paused because its key was revoked or expired',
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
    schema: TopUpStoppedEvent,
    summary: 'Auto top-up stopped: the card was declined or removed, or the price changed',
    example: {
      ...EXAMPLE,
      id: 'evt_top_up_1790000000000',
      type: 'top_up.stopped',
      reason: 'declined',
      order: 'W-17-k3Fz',
    },
  },
  {
    schema: AlertFiredEvent,
    summary: 'The condition of an alert rule is met',
    example: { ...ALERT_EXAMPLE, type: 'alert.fired' },
  },
  {
    schema: AlertResolvedEvent,
    summary: 'The condition of an alert rule is no longer met',
    example: {
      ...ALERT_EXAMPLE,
      type: 'alert.resolved',
      message: '1 of 160 calls in 15 minutes had status 5xx (0.6%).',
    },
  },
  {
    schema: AlertTestEvent,
    summary: 'Test of an alert rule, sent on request',
    example: { ...ALERT_EXAMPLE, type: 'alert.test', message: 'This is a test. Nothing is wrong.' },
  },
  {
    schema: TestEvent,
    summary: 'Test event, sent once on request',
    example: { ...EXAMPLE, type: 'test' },
  },
]

/** OpenAPI webhooks by event type. */
export function eventWebhooks(shared: Shared): Json {
  const parameters = Object.entries(HEADERS).map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  const eventOperation = ({ schema, summary, example }: WebhookEvent): [string, Json] => {
    const post = {
      operationId: `on.${example.type}`,
      summary,
      security: [],
      parameters,
      requestBody: { required: true, content: jsonContent({ schema: schemaOf(schema, shared), example }) },
      responses: { '2XX': { description: 'Event received. Any other status is retried for one day' } },
    }
    return [example.type, { post }]
  }
  return Object.fromEntries(EVENTS.map(eventOperation))
}
