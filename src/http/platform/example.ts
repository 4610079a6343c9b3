// Generates example responses from schemas: each field gets the example value of its name, and an endpoint lists only
// the differences.

import * as z from 'zod'

const MOMENT = 1790000000000

const FIELDS: Readonly<Record<string, unknown>> = {
  account: 'acme',
  amount: '19.00',
  answer: '204',
  apikey: 'cqt_9fKxWq2T',
  armed: ['5%'],
  at: MOMENT,
  attempts: 0,
  balance: '9999.87',
  blocks: 1252800,
  books_bytes: 4294967296,
  bytes: 36000000,
  calls: 3,
  cap: '1000',
  cap_remaining: '996.5',
  chain: 'hyperliquid',
  charged: '3.13',
  checkpoints: 96,
  checkpoints_bytes: 503316480,
  closing: '9996.87',
  code: 'rate_limited',
  count: 3,
  created: MOMENT,
  credits: '3.13',
  credits_a_minute: '1',
  credits_consumed: 3.13,
  currency: 'eur',
  custom: false,
  date: '2026-11-21',
  day: '2026-11-21',
  delivered: true,
  destination: 'clickhouse https://example.com:8443',
  destination_set: true,
  events: [],
  events_bytes: 880803840,
  expired: '0',
  free_credits: 0,
  from: '2026-10-22',
  from_height: 925000000,
  from_ms: MOMENT,
  granted: '10000',
  hash: 'a1'.repeat(32),
  held: '0',
  id: 'pipe_9fKxWq2TbNkRzd5mYvHs4u',
  info_requests_per_second: 1000,
  key: 'cqt_9fKxWq2TbNkRzd5mYvHs4uJwXe',
  label: 'bot',
  lag_ms: 140,
  last_used: 1790002800000,
  message: 'Too many requests: retry after 1 s.',
  month: '2026-11',
  name: 'fills of two wallets',
  number: 'W-17-k3Fz',
  objects: 60,
  old_key_ends: 1790003600000,
  opening: '0',
  pipeline_rows: 0,
  plan: 'entry',
  prefix: 'cqt_9fKxWq2T',
  premium_credits: 3.13,
  product: 'info',
  products: ['info', 'stream'],
  ranges: ['192.0.2.0/24', '2001:db8::/32'],
  refunded: '0.00',
  renews_with: '10000',
  request_id: 'req_7XkPqZ4mNbVcRt2Y',
  rest_requests_per_second: 4,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  segments: 1440,
  since: MOMENT,
  sockets: 1,
  spent: '0.13',
  stops: true,
  stream_connections: 100,
  stream_messages_per_minute: 2000,
  stream_minutes: 1,
  stream_subscriptions: 1000,
  subscriptions: 1,
  terms: null,
  thresholds: ['20%', '5%'],
  time: '2026-11-24T09:30:00.000Z',
  to: '2026-11-22',
  to_height: 926252799,
  topic: 'fills',
  type: 'l2Book',
  until: 1792540800000,
  updated: MOMENT,
  url: 'https://example.com/hooks/weir',
  written_off: '0',
}

/** Example value of a schema. `own`: values that differ from the defaults by field name. */
export function exampleOf(schema: unknown, own?: unknown, name = ''): unknown {
  if (schema instanceof z.ZodOptional) return own === undefined ? undefined : exampleOf(schema.unwrap(), own, name)
  if (schema instanceof z.ZodObject && (own === undefined || isObject(own))) {
    const shown = Object.entries(schema.shape).map(([key, field]) => [key, exampleOf(field, own?.[key], key)] as const)
    return { ...Object.fromEntries(shown.filter(([, value]) => value !== undefined)), ...restOf(own, schema.shape) }
  }
  if (schema instanceof z.ZodArray && Array.isArray(own))
    return own.map((each) => exampleOf(schema.element, each, name))
  if (own === undefined && name in FIELDS) return FIELDS[name]
  if (schema instanceof z.ZodNullable) {
    const inner = schema.unwrap()
    if (own === null || (own === undefined && !(inner instanceof z.ZodObject))) return null
    return exampleOf(inner, own, name)
  }
  if (own !== undefined) return own
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element, undefined, name)]
  if (schema instanceof z.ZodEnum) return schema.options[0]
  return schema instanceof z.ZodLiteral ? schema.value : false
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Extra fields of a loose schema. */
const restOf = (own: Readonly<Record<string, unknown>> = {}, shape: object) =>
  Object.fromEntries(Object.entries(own).filter(([key]) => !(key in shape)))
