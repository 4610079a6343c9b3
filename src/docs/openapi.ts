// The OpenAPI 3.1 document, made of the schemas that requests are parsed with. POST /info has a path per type, told apart
// by a fragment that no client sends: one path for all could not say which answer belongs to which request.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import type { AnyQuery } from '../info/query.ts'
import { schemaOf } from './json-schema.ts'
import { downloadOperation } from './openapi-download.ts'
import { operationPaths, operationRefusals } from './openapi-operations.ts'
import { rpcOperation } from './openapi-rpc.ts'
import { graphqlOperation, socketOperation } from './openapi-socket.ts'
import { statusOperation } from './openapi-status.ts'
import { eventWebhooks } from './openapi-webhooks.ts'
import { freshnessText, priceText, sourceText } from './query-text.ts'

type Json = Readonly<Record<string, unknown>>

const Refusal = z
  .object({
    error: z.string().optional(),
    code: z.string(),
    msg: z.string(),
    message: z.string(),
    request_id: z.string(),
    type: z.string().optional(),
    types: z.array(z.string()).optional(),
  })
  .meta({ id: 'Refusal' })

/** Statuses of a refusal, each with when. Only a 2xx costs credits. */
export const INFO_REFUSALS: Readonly<Record<string, string>> = {
  400: 'The body is not JSON, or its type is unknown',
  401: 'The key is missing, malformed, unknown, revoked or expired',
  402: 'Not enough credits',
  403: 'The key is not for this, or not for this address',
  413: 'The body is larger than 64 KiB',
  415: 'The content type is not application/json',
  422: 'A field is wrong; `msg` names it',
  429: 'Too many requests; `msg` names the limit, such as `info_requests_per_second` of the plan; see `retry-after`',
  500: 'A fault of ours; quote the request id',
  502: 'The source answered with an error',
  503: 'The source is not available; see `retry-after`',
  504: 'The source did not answer in time',
}

const HEADERS: Readonly<Record<string, string>> = {
  'x-request-id': 'Quote it when you report a problem',
  'x-credits-cost': 'Credits that this answer cost',
  'x-credits-remaining': 'Credits that this key may still spend, as the answering isolate knows it',
  'x-block-height': 'The block that the answer reflects, where known',
  'x-history-from-height': 'Answers from our own history: nothing is missing from this block to `x-block-height`',
  'x-history-from-time': 'The time of that block, Unix milliseconds',
  age: 'Age of a cached answer in seconds',
}

/** The document of these queries, in the order of their types, and of what the other surfaces have to say. */
export function openApiDocument(queries: readonly AnyQuery[], operations: readonly Operation[]): Json {
  const schemas = new Map<string, unknown>()
  const paths = [...queries]
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map((query): [string, Json] => [`/info#${query.type}`, { post: operation(query, schemas) }])
  const others = operationPaths(operations, schemas)
  const refusal = jsonContent(schemaOf(Refusal, schemas))
  const refusals = operationRefusals(schemas)
  const webhooks = eventWebhooks(schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir',
      version: '1',
      description:
        'Every info query is `POST /info`; `type` selects it. The fragments of the paths below only keep the types apart. ' +
        'Prices and sizes are decimal strings, times are Unix milliseconds. Unknown fields of a request are ignored; ' +
        'answers may gain fields. The operator’s API refuses unknown fields, and exists where `ADMIN_TOKEN` is set.',
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths: {
      ...Object.fromEntries(paths),
      ...others,
      '/v1/{chain}/history/files/{key}': { get: downloadOperation() },
      '/v1/{chain}': { post: rpcOperation() },
      '/ws': { get: socketOperation() },
      '/graphql': { get: graphqlOperation() },
      '/status': { get: statusOperation(schemas) },
    },
    webhooks,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (`cqt_…`) or, on the platform, a service key (`cqs_…`)',
        },
        queryKey: { type: 'apiKey', in: 'query', name: 'key', description: 'The same API key, on `/ws` alone' },
        service: { type: 'http', scheme: 'bearer', description: 'A service key (`cqs_…`)' },
        admin: { type: 'http', scheme: 'bearer', description: 'The operator’s `ADMIN_TOKEN`' },
      },
      headers: Object.fromEntries(Object.entries(HEADERS).map(([name, description]) => [name, header(description)])),
      responses: {
        ...Object.fromEntries(
          Object.entries(INFO_REFUSALS).map(([status, description]) => [status, { description, content: refusal }]),
        ),
        ...refusals,
      },
      schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

function operation(query: AnyQuery, schemas: Map<string, unknown>): Json {
  const { type, summary, example, request, response } = query
  return {
    operationId: type,
    summary,
    description: `Credits: ${priceText(query)}. Source: ${sourceText(query)}. Freshness: ${freshnessText(query)}.`,
    requestBody: {
      required: true,
      content: jsonContent(schemaOf(request, schemas), { type, ...example.request }),
    },
    responses: {
      200: {
        description: 'The answer',
        headers: Object.fromEntries(Object.keys(HEADERS).map((name) => [name, ref('headers', name)])),
        content: jsonContent(schemaOf(response, schemas), example.response),
      },
      ...Object.fromEntries(Object.keys(INFO_REFUSALS).map((status) => [status, ref('responses', status)])),
    },
  }
}

function jsonContent(schema: unknown, example?: unknown): Json {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } }
}

function ref(kind: 'headers' | 'responses', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` }
}
