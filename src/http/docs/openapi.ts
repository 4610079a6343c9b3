// The OpenAPI 3.1 documents, built from the schemas that requests are parsed with. The whole one has `POST /info` once: its body
// is one of the types, told apart by `type`, and `InfoAnswerByType` says which answer belongs to which. A document of a
// single type has exactly its request and its answer.

import * as z from 'zod'
import type { AnyQuery } from '../../info/query.ts'
import type { Operation } from '../operation.ts'
import { freshnessText, priceText, sourceText } from './definition-text.ts'
import { jsonContent, mapped, ref, schemaOf } from './json-schema.ts'
import { downloadOperation, graphqlOperation, rpcOperation, socketOperation, statusOperation } from './openapi-fixed.ts'
import { eventWebhooks, operationPaths, operationRefusals } from './openapi-operations.ts'

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
  'x-ignored-fields': 'Fields of the request that its type does not have, with what was probably meant',
  age: 'Age of a cached answer in seconds',
}

const INFO = { title: 'Weir', version: '1', license: { name: 'MIT', identifier: 'MIT' } }
const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key (`cqt_…`) or, on the platform, a service key (`cqs_…`)',
}
const COMMON = { openapi: '3.1.0', servers: [{ url: '/' }], security: [{ key: [] }] }

/** Where the document of one type is served, as hono and OpenAPI both write it. */
export const typeDocumentPath = (type: string): string => `/openapi/info/${type}.json`

/** The document of these queries, in the order of their types, and of what the other surfaces have to say. */
export function openApiDocument(queries: readonly AnyQuery[], operations: readonly Operation[]): Json {
  const schemas = new Map<string, unknown>()
  const info = infoOperation(queries, schemas)
  const others = operationPaths(operations, schemas)
  const refusals = operationRefusals(schemas)
  const webhooks = eventWebhooks(schemas)
  const status = statusOperation(schemas)
  return {
    ...COMMON,
    info: {
      ...INFO,
      description:
        'Every info query is `POST /info`; `type` selects it. `InfoAnswerByType` has the schema of the answer to each ' +
        `type, and \`${typeDocumentPath('<type>')}\` describes one type alone. ` +
        'Prices and sizes are decimal strings, times are Unix milliseconds. Unknown fields of an info request are ignored ' +
        'and named in `x-ignored-fields`; answers may gain fields. All other bodies refuse unknown fields, except that of ' +
        'the status of a pipeline. The operator’s API exists where `ADMIN_TOKEN` is set.',
    },
    paths: {
      '/info': { post: info },
      ...others,
      '/v1/{chain}/history/files/{key}': { get: downloadOperation() },
      '/v1/{chain}': { post: rpcOperation() },
      '/status': { get: status },
    },
    // An upgrade is answered with 101, which is no response to a generated client: these are not among the paths.
    'x-websockets': { '/ws': { get: socketOperation() }, '/graphql': { get: graphqlOperation() } },
    webhooks,
    components: {
      securitySchemes: {
        key: BEARER,
        queryKey: { type: 'apiKey', in: 'query', name: 'key', description: 'The same API key, on `/ws` alone' },
        service: { type: 'http', scheme: 'bearer', description: 'A service key (`cqs_…`)' },
        admin: { type: 'http', scheme: 'bearer', description: 'The operator’s `ADMIN_TOKEN`' },
      },
      ...infoComponents(schemas, refusals),
    },
  }
}

/** The document of one type: a generator that reads it knows the answer of every call. */
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
    responses: infoResponses({ schema: schemaOf(response, schemas), example: example.response }),
  }
  return {
    ...COMMON,
    info: { ...INFO, title: `Weir: ${type}`, description: summary },
    paths: { '/info': { post } },
    components: { securitySchemes: { key: BEARER }, ...infoComponents(schemas) },
  }
}

/** `POST /info` for every type; its schemas get names, which generators make types of. */
function infoOperation(queries: readonly AnyQuery[], schemas: Map<string, unknown>): Json {
  const sorted = [...queries].sort((a, b) => (a.type < b.type ? -1 : 1))
  for (const query of sorted) {
    const description = `${query.summary}. ${creditsText(query)}`
    schemas.set(requestName(query), { ...schemaOf(query.request, schemas), description })
    schemas.set(answerName(query), schemaOf(query.response, schemas))
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
  // Several may fit one answer: an empty list is one of many types.
  schemas.set('InfoAnswer', { anyOf: answers })
  schemas.set('InfoAnswerByType', {
    type: 'object',
    description: 'The answer to each type of request. Never sent: generators make a map of types of it.',
    properties: byType(answers),
    required: types,
  })
  return {
    operationId: 'info',
    tags: ['info'],
    summary: 'Answers a query; `type` selects it',
    description: 'The schemas of requests say what each type costs, where it is answered from and how fresh.',
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
      description: 'The answer',
      headers: mapped(HEADERS, (_, name) => ref('headers', name)),
      content: jsonContent(answer),
    },
    ...mapped(INFO_REFUSALS, (_, status) => ref('responses', status)),
  }
}

/** What the operations of info refer to, with the schemas that were collected until now. */
function infoComponents(schemas: Map<string, unknown>, responses: Json = {}): Json {
  const content = jsonContent({ schema: schemaOf(Refusal, schemas) })
  return {
    headers: mapped(HEADERS, (description) => ({ description, schema: { type: 'string' } })),
    responses: { ...mapped(INFO_REFUSALS, (description) => ({ description, content })), ...responses },
    schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}
