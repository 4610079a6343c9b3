// OpenAPI operations that are not in a catalog: sockets, JSON-RPC, history files and status.

import * as z from 'zod'
import { HistoryShape } from '../../monitor/history.ts'
import { FEED_STATES, StatusShape } from '../../protocol/feed/status-shape.ts'
import { jsonContent, mapped, ref, schemaOf } from './json-schema.ts'
import { PAYMENT_TEXT } from './openapi-x402.ts'

type Json = Readonly<Record<string, unknown>>

const SOCKET_REFUSALS: Readonly<Record<number, string>> = {
  401: 'The key is missing, malformed, unknown, revoked or expired',
  402: 'The balance does not cover one minute of the cheapest stream',
  403: 'The key does not include streams, or the caller’s address is not allowed',
  422: 'The request is not a WebSocket upgrade',
  429: 'Too many open sockets for the plan, too many connects with this key, or too many key look-ups; `msg` names the limit; see `retry-after`',
  503: 'All relays of the region are full, or the credit meter is unreachable; see `retry-after`',
}

/** The key of this socket arrives in its first message. */
export function graphqlOperation(): Json {
  return {
    operationId: 'connectGraphql',
    tags: ['streams'],
    summary: 'Opens a GraphQL WebSocket',
    description:
      'Subprotocol `graphql-transport-ws`. Send the key as `SERVICE_API_KEY` in the payload of `connection_init`. Every channel is a subscription; introspection returns the schema.',
    security: [],
    responses: {
      101: { description: 'Socket open: send connection_init' },
      ...Object.fromEntries(['400', '429', '503'].map((status) => [status, ref('responses', status)])),
    },
  }
}

export function socketOperation(): Json {
  return {
    operationId: 'connect',
    tags: ['streams'],
    summary: 'Opens the WebSocket',
    description: '/asyncapi.json describes the messages. Connecting is free; subscriptions cost credits per minute.',
    security: [{ key: [] }, { queryKey: [] }],
    parameters: [parameter('key', 'query', 'API key, for clients that cannot set headers, such as browsers', false)],
    responses: {
      101: { description: 'Socket open: send subscribe frames' },
      ...mapped(SOCKET_REFUSALS, (description, status) => ({ ...ref('responses', status), description })),
    },
  }
}

export const RPC_REFUSALS: Readonly<Record<number, string>> = {
  400: 'The body is not JSON (−32700), or neither a call nor a batch of 1 to 100 calls (−32600)',
  401: 'The key is missing or wrong (−32001)',
  402: `Not enough credits. ${PAYMENT_TEXT} (−32003)`,
  403: 'The key does not include JSON-RPC (−32002)',
  404: 'Unknown chain (−32600)',
  413: 'The body is larger than 1 MiB (−32600)',
  415: 'The content type is not application/json (−32600)',
  429: 'Too many calls; see `retry-after` (−32005)',
  500: 'Internal error; quote the request id when you report it (−32603)',
  502: 'The node returned an invalid response (−32603)',
  503: 'The node is unavailable; see `retry-after` (−32603)',
  504: 'The node did not respond in time (−32603)',
}

const id = { type: ['string', 'number', 'null'] }
const call = {
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id,
    method: { type: 'string' },
    params: { type: ['array', 'object', 'null'] },
  },
}
const error = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { type: 'integer' }, message: { type: 'string' } },
}
const rpcReply = {
  type: 'object',
  required: ['jsonrpc', 'id'],
  properties: { jsonrpc: { const: '2.0' }, id, result: {}, error },
}
const orBatch = (schema: object) => ({ oneOf: [schema, { type: 'array', items: schema, maxItems: 100 }] })
const content = (schema: object, example?: object) => jsonContent({ schema, ...(example && { example }) })

/** The node defines the methods and their results. */
export function rpcOperation(): Json {
  return {
    operationId: 'rpc',
    tags: ['rpc'],
    summary: 'Calls the JSON-RPC 2.0 API of a chain',
    description:
      'A single call or a batch. A call is charged at the price of its method (1 credit by default) if the node returns a result or a revert; other errors are free. The key must be sent in the header.',
    parameters: [parameter('chain', 'path', 'Name of the chain')],
    requestBody: {
      required: true,
      content: content(orBatch(call), { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    },
    responses: {
      200: {
        description: 'The response. For a batch: a list with a response to each call, but none to notifications',
        content: content(orBatch(rpcReply), { jsonrpc: '2.0', id: 1, result: '0x3722ab40' }),
      },
      204: { description: 'The request contained only notifications' },
      ...mapped(RPC_REFUSALS, (description) => ({ description, content: content(rpcReply) })),
    },
  }
}

const parameter = (name: string, location: 'path' | 'query' | 'header', description: string, required = true) => {
  return { name, in: location, required, description, schema: { type: 'string' } }
}
const bytes = { 'application/gzip': {} }

/** The signed link contains the authorization, so no key is needed. */
export function downloadOperation(): Json {
  return {
    operationId: 'historyFile',
    tags: ['data'],
    summary: 'Downloads a history file by its signed link',
    description:
      '`GET /v1/{chain}/history/files` creates the links. Needs no key and is free of charge, because the link was already paid for.',
    security: [],
    parameters: [
      parameter('chain', 'path', 'Name of the chain'),
      parameter('key', 'path', 'Name of the file, including slashes'),
      parameter('expires', 'query', 'Expiry of the link, Unix milliseconds'),
      parameter('sig', 'query', 'Signature of the link'),
      parameter('range', 'header', 'Byte range, such as `bytes=0-1023`', false),
    ],
    responses: {
      200: { description: 'The file', content: bytes },
      206: { description: 'The requested range', content: bytes },
      ...Object.fromEntries(
        [400, 403, 404, 429, 500, 503].map((status) => [status, ref('responses', `platform-${status}`)]),
      ),
      416: { description: 'The range lies outside the file; `content-range` has the file size' },
    },
  }
}

export function statusOperation(shared: Map<string, unknown>): Json {
  return {
    operationId: 'status',
    tags: ['operator'],
    summary: 'Status of the feed and the upstream sources',
    description:
      'Needs no key and is free of charge. The response is at most one second old. Monitors should check that `state` is `live`, and show `advice`.',
    security: [],
    responses: {
      200: {
        description: 'Block log, feeders, readers and upstream sources',
        content: jsonContent({ schema: schemaOf(StatusShape, shared) }),
      },
    },
  }
}

const Live = z.object({ live: z.literal(true) })
const Readiness = z.object({ state: z.enum(FEED_STATES), advice: z.string() })

/** Paths for load balancers and supervisors, which read only the HTTP status. */
export function probePaths(shared: Map<string, unknown>): Readonly<Record<string, Json>> {
  const answer = (shape: z.ZodType, description: string) => ({
    description,
    content: jsonContent({ schema: schemaOf(shape, shared) }),
  })
  const operation = (operationId: string, summary: string, description: string, responses: Json) => ({
    get: { operationId, tags: ['operator'], summary, description, security: [], responses },
  })
  return {
    '/status/live': operation(
      'statusLive',
      'Whether the gateway responds',
      'For supervisors that restart a gateway. Needs no key and is free of charge. Depends on no other part.',
      { 200: answer(Live, 'The gateway responds') },
    ),
    '/status/ready': operation(
      'statusReady',
      'Whether the feed is live',
      'For load balancers. Needs no key and is free of charge. The response is at most one second old.',
      {
        200: answer(Readiness, '`state` is `live`'),
        503: answer(Readiness, '`state` is not `live`; `advice` has the next step'),
      },
    ),
  }
}

/** Paths of the history that the status page shows. */
export function historyPaths(shared: Map<string, unknown>): Readonly<Record<string, Json>> {
  const shared503 = { 503: ref('responses', 'platform-503') }
  const operation = (operationId: string, summary: string, description: string, ok: Json, more: Json = {}) => ({
    get: { operationId, tags: ['operator'], summary, description, security: [], ...more, responses: ok },
  })
  return {
    '/status/history.json': operation(
      'statusHistory',
      'Availability of the last 90 days, and incidents',
      'Needs no key and is free of charge. The response is at most two minutes old.',
      {
        200: {
          description: 'Components by day, and incidents',
          content: jsonContent({ schema: schemaOf(HistoryShape, shared) }),
        },
        ...shared503,
      },
    ),
    '/status/history.ndjson': operation(
      'statusHours',
      'The hourly rows behind the availability',
      'The file that `bundle` of `GET /status/history.json` names. Its SHA-256 is in `bundle.sha256`.',
      {
        200: {
          description: 'One component and hour per line',
          content: { 'application/x-ndjson': { schema: { type: 'string' } } },
        },
        404: ref('responses', 'platform-404'),
      },
      { parameters: [parameter('until', 'query', 'End of the last hour, Unix milliseconds')] },
    ),
    '/status/incidents.rss': operation(
      'statusFeed',
      'Incidents and maintenance as RSS',
      'One item per update, newest first, at most 50.',
      {
        200: { description: 'The feed', content: { 'application/rss+xml': { schema: { type: 'string' } } } },
        ...shared503,
      },
    ),
  }
}
