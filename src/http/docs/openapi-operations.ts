// Operations of the operator's API and of the platform as paths of the OpenAPI document.

import * as z from 'zod'
import { formatCredits } from '../../core/amount.ts'
import { type Operation, roleFor } from '../operation.ts'
import { schemaOf } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>
type Shared = Map<string, unknown>

const Refusal = z
  .object({ error: z.literal(true), error_message: z.string(), error_code: z.string() })
  .meta({ id: 'PlatformRefusal' })

/** Statuses of a refusal, each with when. */
export const OPERATION_REFUSALS: Readonly<Record<number, string>> = {
  400: 'A field is wrong; `error_message` names it',
  401: 'The token or key is missing or wrong',
  402: 'Not enough credits',
  403: 'The key, or the role of who calls, may not call this',
  404: 'There is no such account, key, plan or pipeline, or no such endpoint',
  409: 'What is there already is in the way; `error_message` names the field',
  413: 'The body is larger than 16 KiB, or than its operation says',
  429: 'Too many requests; `error_message` names the limit, such as `rest_requests_per_second` of the plan; see `retry-after`',
  500: 'A fault of ours; quote the request id',
  503: 'A part of the gateway cannot be reached; see `retry-after`',
}
const OF_KEYS = [401, 403, 429, 500, 503]
const OF_DOOR = { admin: [400, 401, 403, 404, 500, 503], key: OF_KEYS, service: OF_KEYS } as const

/** The paths of these operations, with those of one path together. */
export function operationPaths(operations: readonly Operation[], shared: Shared): Record<string, Json> {
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: described(operation, shared) }
  }
  return paths
}

/** Responses that the operations refer to. */
export function operationRefusals(shared: Shared): Record<string, Json> {
  const content = { 'application/json': { schema: schemaOf(Refusal, shared) } }
  return Object.fromEntries(
    Object.entries(OPERATION_REFUSALS).map(([status, description]) => [nameOf(status), { description, content }]),
  )
}

function described(operation: Operation, shared: Shared): Json {
  const { id, summary, door, product = 'platform', params = {}, query, body, answers } = operation
  const description = operationText(operation)
  const parameters = [
    ...Object.entries(params).map(([name, schema]) => parameter(name, 'path', schemaOf(schema, shared), true)),
    ...(query === undefined ? [] : queryParameters(query, shared)),
  ]
  return {
    operationId: id,
    tags: [door === 'admin' ? 'operator' : product],
    summary,
    ...(description === '' ? {} : { description }),
    security: [{ [door]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.optional,
            content: content(
              body.schema,
              body.example,
              shared,
              body.gzipBytes === undefined ? undefined : 'application/gzip',
            ),
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, { description: what, schema, example }]) => [
          status,
          { description: what, content: content(schema, example, shared) },
        ]),
      ),
      ...Object.fromEntries(
        refusalStatuses(operation).map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
      ),
    },
  }
}

/** With what it may be refused. */
export function refusalStatuses({ door, price, priced, body, refusals }: Operation): number[] {
  const ofParts = [...(price === undefined && priced === undefined ? [] : [402]), ...(body === undefined ? [] : [413])]
  return [...new Set<number>([...OF_DOOR[door], ...refusals, ...ofParts])].sort()
}

function queryParameters(query: z.ZodType, shared: Shared): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, shared) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => parameter(name, 'query', schema, required.includes(name)))
}

function parameter(name: string, place: 'path' | 'query', schema: Json, required: boolean): Json {
  return { name, in: place, required, schema }
}

function content(schema: z.ZodType, example: unknown, shared: Shared, media?: string): Json {
  const type = media ?? (schema instanceof z.ZodString ? 'text/plain' : 'application/json')
  return { [type]: { schema: schemaOf(schema, shared), example } }
}

function nameOf(status: string | number): string {
  return `platform-${status}`
}

/** What the documents say of an operation beside its summary. */
export function operationText(operation: Operation): string {
  const { description = '', door, everyKey = false, price = 0, priced = formatCredits(price) } = operation
  const role = door === 'admin' ? `Takes the role \`${roleFor(operation)}\`.` : ''
  const key = door === 'service' ? 'Takes a service key.' : everyKey ? 'Takes any key, whatever its products.' : role
  const cost = priced === '0' ? '' : `Credits: ${priced}.`
  return [description, key, cost].filter((part) => part !== '').join(' ')
}
