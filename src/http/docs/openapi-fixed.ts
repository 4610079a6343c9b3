// Operations of the OpenAPI document that no catalogue has: sockets, JSON-RPC, files of the history and the status.

import { StatusShape } from '../../protocol/feed/status-shape.ts'
import { jsonContent, mapped, ref, schemaOf } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>

const SOCKET_REFUSALS: Readonly<Record<number, string>> = {
  401: 'The key is missing, malformed, unknown, revoked or expired',
  402: 'Less is left than a minute of the cheapest stream costs',
  403: 'The key is not for streams, or not for this address',
  422: 'Not a WebSocket upgrade',
  429: 'As many sockets as the plan allows are open, the key connects too often, or too many keys were looked up; `msg` says which; see `retry-after`',
  503: 'Every relay of the region is full, or the credit meter cannot be reached; see `retry-after`',
}

/** Of a socket whose key comes later. */
export function graphqlOperation(): Json {
  return {
    operationId: 'connectGraphql',
    tags: ['streams'],
    summary: 'Opens a WebSocket of GraphQL',
    description:
      'Subprotocol `graphql-transport-ws`; the key goes into the payload of `connection_init`, as `SERVICE_API_KEY`. Every ' +
      'channel is a subscription: introspection shows the schema.',
    security: [],
    responses: {
      101: { description: 'The socket is open: send connection_init' },
      ...Object.fromEntries(['400', '429', '503'].map((status) => [status, ref('responses', status)])),
    },
  }
}

export function socketOperation(): Json {
  return {
    operationId: 'connect',
    tags: ['streams'],
    summary: 'Opens the WebSocket',
    description:
      'What is sent over it stands in /asyncapi.json. Connecting is free; subscriptions cost credits by the minute.',
    security: [{ key: [] }, { queryKey: [] }],
    parameters: [
      parameter('key', 'query', 'The API key, for clients that cannot set a header, such as browsers', false),
    ],
    responses: {
      101: { description: 'The socket is open: send subscribe frames' },
      ...mapped(SOCKET_REFUSALS, (description, status) => ({ ...ref('responses', status), description })),
    },
  }
}

export const RPC_REFUSALS: Readonly<Record<number, string>> = {
  400: 'The body is not JSON (−32700), or no call or batch of 1 to 100 calls (−32600)',
  401: 'The key is missing or wrong (−32001)',
  402: 'Not enough credits (−32003)',
  403: 'The key is not for JSON-RPC (−32002)',
  404: 'There is no such chain (−32600)',
  413: 'The body is larger than 1 MiB (−32600)',
  415: 'The content type is not application/json (−32600)',
  429: 'Too many calls; see `retry-after` (−32005)',
  500: 'A fault of ours; quote the request id (−32603)',
  502: 'The node answered with what is no answer (−32603)',
  503: 'The node is not available; see `retry-after` (−32603)',
  504: 'The node did not answer in time (−32603)',
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
const answer = {
  type: 'object',
  required: ['jsonrpc', 'id'],
  properties: { jsonrpc: { const: '2.0' }, id, result: {}, error },
}
const orBatch = (schema: object) => ({ oneOf: [schema, { type: 'array', items: schema, maxItems: 100 }] })
const content = (schema: object, example?: object) => jsonContent({ schema, ...(example && { example }) })

/** Methods and their answers are the node's own. */
export function rpcOperation(): Json {
  return {
    operationId: 'rpc',
    tags: ['rpc'],
    summary: 'JSON-RPC 2.0 of a chain',
    description:
      'A call or a batch. Each call costs what its method costs (one credit unless the operator says otherwise) where the ' +
      'node answered it with a result or a revert; other errors cost nothing. The key is taken from the header alone.',
    parameters: [parameter('chain', 'path', 'Name of the chain')],
    requestBody: {
      required: true,
      content: content(orBatch(call), { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    },
    responses: {
      200: {
        description: 'The answer, or one for each call of a batch that is no notification',
        content: content(orBatch(answer), { jsonrpc: '2.0', id: 1, result: '0x3722ab40' }),
      },
      204: { description: 'There were notifications alone' },
      ...mapped(RPC_REFUSALS, (description) => ({ description, content: content(answer) })),
    },
  }
}

const parameter = (name: string, place: 'path' | 'query' | 'header', description: string, required = true) => {
  return { name, in: place, required, description, schema: { type: 'string' } }
}
const bytes = { 'application/gzip': {} }

/** A link says all of it. */
export function downloadOperation(): Json {
  return {
    operationId: 'historyFile',
    tags: ['data'],
    summary: 'A file of the history, by a link to it',
    description: 'Links come from `GET /v1/{chain}/history/files`. Without a key, free: the link was paid for.',
    security: [],
    parameters: [
      parameter('chain', 'path', 'Name of the chain'),
      parameter('key', 'path', 'Name of the file, with its slashes'),
      parameter('expires', 'query', 'When the link ends, Unix milliseconds'),
      parameter('sig', 'query', 'The link’s signature'),
      parameter('range', 'header', 'One part of the file, such as `bytes=0-1023`', false),
    ],
    responses: {
      200: { description: 'The file', content: bytes },
      206: { description: 'The part that was asked for', content: bytes },
      ...Object.fromEntries(
        [400, 403, 404, 429, 500, 503].map((status) => [status, ref('responses', `platform-${status}`)]),
      ),
      416: { description: 'There is no such part; `content-range` says how long the file is' },
    },
  }
}

export function statusOperation(shared: Map<string, unknown>): Json {
  return {
    operationId: 'status',
    tags: ['operator'],
    summary: 'How the feed and the sources stand',
    description:
      'Without a key, free. At most a second old; a monitor watches `state`, which is `live` where all is well, and shows `advice`.',
    security: [],
    responses: {
      200: {
        description: 'The log, its feeders and readers, and the sources',
        content: jsonContent({ schema: schemaOf(StatusShape, shared) }),
      },
    },
  }
}
