// Builds the OpenAPI 3.1 documents from the schemas that parse requests. The full document has `POST /info` once, as a
// union discriminated by `type`; `InfoAnswerByType` maps each type to its response. The document of a single type has
// exactly one request and one response.

import * as z from 'zod'
import type { AnyQuery } from '../../info/query.ts'
import type { Operation } from '../operation.ts'
import { freshnessText, priceText, sourceText } from './definition-text.ts'
import { jsonContent, mapped, ref, schemaOf } from './json-schema.ts'
import {
  downloadOperation,
  graphqlOperation,
  historyPaths,
  probePaths,
  rpcOperation,
  socketOperation,
  statusOperation,
} from './openapi-fixed.ts'
import { eventWebhooks, operationPaths, operationRefusals } from './openapi-operations.ts'
import { PAYMENT_HEADERS, PAYMENT_TEXT, paymentPaths } from './openapi-x402.ts'

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

/** Error statuses and their causes. Only 2xx responses cost credits. */
export const INFO_REFUSALS: Readonly<Record<string, string>> = {
  400: 'The body is not JSON, or `type` is unknown',
  401: 'The key is missing, malformed, unknown, revoked or expired',
  402: `Not enough credits. ${PAYMENT_TEXT}`,
  403: 'The key does not include this product, or the caller’s address is not allowed',
  413: 'The body is larger than 64 KiB',
  415: 'The content type is not application/json',
  422: 'A field is invalid; `msg` names it',
  429: 'Too many requests; `msg` names the limit, such as `info_requests_per_second` of the plan; see `retry-after`',
  500: 'Internal error; quote the request id when you report it',
  502: 'The upstream source returned an error',
  503: 'The upstream source is unavailable; see `retry-after`',
  504: 'The upstream source did not respond in time',
}

const HEADERS: Readonly<Record<string, string>> = {
  'x-request-id': 'Request id; quote it when you report a problem',
  'x-credits-cost': 'Credits charged for this response',
  'x-credits-remaining': 'Credits that this key can still spend, as known to the serving isolate',
  'x-block-height': 'Block height that the response reflects, if known',
  'x-history-from-height':
    'For responses from the gateway’s own history: first height of the range that is complete up to `x-block-height`',
  'x-history-from-time': 'Time of that block, Unix milliseconds',
  'x-omitted-trades':
    'For completed trades: closed positions that are left out, because their opening or a change of their size is unknown',
  'x-next-cursor': 'For lists read by `cursor`: cursor of the next page; absent on the last page',
  'x-ignored-fields': 'Unknown request fields, with suggestions',
  age: 'Age of a cached response, in seconds',
  'payment-response': PAYMENT_HEADERS['payment-response'],
}

const INFO = { title: 'Weir', version: '1', license: { name: 'MIT', identifier: 'MIT' } }
const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'API key (`cqt_…`) or, on the platform, service key (`cqs_…`)',
}
const COMMON = { openapi: '3.1.0', servers: [{ url: '/' }], security: [{ key: [] }] }

/** URL path of the document of one type. */
export const typeDocumentPath = (type: string): string => `/openapi/info/${type}.json`

/** The full document: info queries sorted by type, and the operations of the other surfaces. */
export function openApiDocument(queries: readonly AnyQuery[], operations: readonly Operation[]): Json {
  const schemas = new Map<string, unknown>()
  const info = infoOperation(queries, schemas)
  const others = operationPaths(operations, schemas)
  const refusals = operationRefusals(schemas)
  const webhooks = eventWebhooks(schemas)
  const status = statusOperation(schemas)
  const probes = probePaths(schemas)
  const history = historyPaths(schemas)
  const payments = paymentPaths(schemas)
  return {
    ...COMMON,
    info: {
      ...INFO,
      description: `Every info query is \`POST /info\`; \`type\` selects it. \`InfoAnswerByType\` has the response schema of each type, and \`${typeDocumentPath('<type>')}\` describes a single type. Prices and sizes are decimal strings, times are Unix milliseconds. Unknown fields of an info request are ignored and listed in \`x-ignored-fields\`; responses may gain fields. Other request bodies reject unknown fields, except the body that sets the status of a pipeline. The operator’s API exists only if \`ADMIN_TOKEN\` is set.`,
    },
    paths: {
      '/info': { post: info },
      ...others,
      '/v1/{chain}/history/files/{key}': { get: downloadOperation() },
      '/v1/{chain}': { post: rpcOperation() },
      '/status': { get: status },
      ...probes,
      ...history,
      ...payments,
    },
    // Generated clients cannot handle a 101 response, so upgrades are not listed in `paths`.
    'x-websockets': { '/ws': { get: socketOperation() }, '/graphql': { get: graphqlOperation() } },
    webhooks,
    components: {
      securitySchemes: {
        key: BEARER,
        queryKey: {
          type: 'apiKey',
          in: 'query',
          name: 'key',
          description: 'The same API key, accepted in the URL only on `/ws`',
        },
        service: { type: 'http', scheme: 'bearer', description: 'Service key (`cqs_…`)' },
        admin: { type: 'http', scheme: 'bearer', description: 'The operator’s `ADMIN_TOKEN`' },
      },
      ...infoComponents(schemas, refusals),
    },
  }
}

/** The document of one type, for generators that need one response type per call. */
export function typeDocument(query: AnyQuery): Json {
  const schemas = new Map<string, unknown>()
  const { type, summary, example, request, response } = query
  const post = {
    operationId: type,
    summary,
    description: creditsText(query),
    requestBody: {
      required: true,
      content: jsonContent({ schema: schemaOf(request, schemas), example: { type, ...example.request } }),
    },
    responses: infoResponses({ schema: schemaOf(response(), schemas), example: example.response }),
  }
  return {
    ...COMMON,
    info: { ...INFO, title: `Weir: ${type}`, description: summary },
    paths: { '/info': { post } },
    components: { securitySchemes: { key: BEARER }, ...infoComponents(schemas) },
  }
}

/** `POST /info` for all types, with named schemas so that generators create named types. */
function infoOperation(queries: readonly AnyQuery[], schemas: Map<string, unknown>): Json {
  const sorted = [...queries].sort((a, b) => (a.type < b.type ? -1 : 1))
  for (const query of sorted) {
    const description = `${query.summary}. ${creditsText(query)}`
    schemas.set(requestName(query), { ...schemaOf(query.request, schemas), description })
    schemas.set(answerName(query), schemaOf(query.response(), schemas))
  }
  const requests = sorted.map((query) => ref('schemas', requestName(query)))
  const answers = sorted.map((query) => ref('schemas', answerName(query)))
  const types = sorted.map(({ type }) => type)
  const byType = (values: readonly unknown[]) => Object.fromEntries(types.map((type, at) => [type, values[at]]))
  const examples = (of: (query: AnyQuery) => unknown) => byType(sorted.map((query) => ({ value: of(query) })))
  schemas.set('InfoRequest', {
    oneOf: requests,
    discriminator: { propertyName: 'type', mapping: byType(requests.map(({ $ref }) => $ref)) },
  })
  // `anyOf`, because one response can match several types: an empty list, for example.
  schemas.set('InfoAnswer', { description: 'Response as in `InfoAnswerByType`', anyOf: answers })
  schemas.set('InfoAnswerByType', {
    type: 'object',
    description: 'Response schema by request type. Never sent; exists so that generators create a type map.',
    properties: byType(answers),
    required: types,
  })
  return {
    operationId: 'info',
    tags: ['info'],
    summary: 'Runs an info query; `type` selects it',
    description: 'The request schemas state the price, source and freshness of each type.',
    requestBody: {
      required: true,
      content: jsonContent({
        schema: ref('schemas', 'InfoRequest'),
        examples: examples(({ type, example }) => ({ type, ...example.request })),
      }),
    },
    responses: infoResponses({
      schema: ref('schemas', 'InfoAnswer'),
      examples: examples(({ example }) => example.response),
    }),
  }
}

const capitalized = (type: string) => type.replace(/^./, (letter) => letter.toUpperCase())
const requestName = ({ type }: AnyQuery) => `${capitalized(type)}Request`
const answerName = ({ type }: AnyQuery) => `${capitalized(type)}Answer`

function creditsText(query: AnyQuery): string {
  return `Credits: ${priceText(query)}. Source: ${sourceText(query)}. Freshness: ${freshnessText(query)}.`
}

function infoResponses(answer: Json): Json {
  return {
    200: {
      description: 'Response of the query type',
      headers: mapped(HEADERS, (_, name) => ref('headers', name)),
      content: jsonContent(answer),
    },
    ...mapped(INFO_REFUSALS, (_, status) => ref('responses', status)),
  }
}

/** Components referenced by the info operations, including all schemas collected so far. */
function infoComponents(schemas: Map<string, unknown>, responses: Json = {}): Json {
  const content = jsonContent({ schema: schemaOf(Refusal, schemas) })
  return {
    headers: mapped({ ...HEADERS, ...PAYMENT_HEADERS }, (description) => ({ description, schema: { type: 'string' } })),
    responses: {
      ...mapped(INFO_REFUSALS, (description, status) => {
        const headers = { 'payment-required': ref('headers', 'payment-required') }
        return { description, ...(status === '402' && { headers }), content }
      }),
      ...responses,
    },
    schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}
