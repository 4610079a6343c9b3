// Results of tools as clients receive them: the structured content, and the same as text for clients that read only text.

import * as z from 'zod'
import { formatCredits, type MicroCredits, parseCredits } from '../../core/amount.ts'
import { parseJson } from '../../core/json.ts'
import { fitted } from './answer-size.ts'
import { type Answer, maxBytesOf, pageOf, type Shaped, type Tool, type ToolFailure } from './tool.ts'

/** Cost, height and age of the HTTP answers of one call. */
export interface CallFacts {
  readonly costMicro: MicroCredits
  /** Lowest block that an answer reflects; null: unknown. */
  readonly height: number | null
  /** Age of the oldest cached answer in seconds; 0: none was cached. */
  readonly ageS: number
}

export const NO_FACTS: CallFacts = { costMicro: 0, height: null, ageS: 0 }

/** An HTTP answer of a surface. */
export interface SurfaceReply {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly text: string
}

export function factsOf(replies: readonly SurfaceReply[]): CallFacts {
  const numbers = (name: string) =>
    replies.flatMap(({ headers }) => {
      const text = headers.get(name)
      return text === null || !/^\d+$/.test(text) ? [] : [Number(text)]
    })
  const heights = numbers('x-block-height')
  const costs = replies.map(({ headers }) => parseCredits(headers.get('x-credits-cost') ?? '0'))
  return {
    costMicro: costs.reduce((sum, cost) => sum + (cost.ok ? cost.value : 0), 0),
    height: heights.length === 0 ? null : Math.min(...heights),
    ageS: Math.max(0, ...numbers('age')),
  }
}

/** The answer, without the envelope of the REST API. */
export function answerOf({ headers, text }: SurfaceReply): Answer {
  const body = parseJson(text)
  const isEnveloped = typeof body === 'object' && body !== null && 'error_code' in body && 'data' in body
  return { body: isEnveloped ? body.data : body, nextCursor: headers.get('x-next-cursor') }
}

const Rejection = z.object({
  code: z.string().optional(),
  msg: z.string().optional(),
  error_message: z.string().optional(),
  request_id: z.string().optional(),
})

/** Codes of failures on surfaces that send only a status. */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  402: 'credits_exhausted',
  403: 'forbidden',
  404: 'not_found',
  429: 'rate_limited',
  503: 'unavailable',
}

/** The failure that a surface answered with. */
export function failureOf({ status, headers, text }: SurfaceReply): ToolFailure {
  const parsed = Rejection.safeParse(parseJson(text))
  const body = parsed.success ? parsed.data : {}
  const retryAfterS = Number(headers.get('retry-after'))
  const requestId = body.request_id ?? headers.get('x-request-id')
  return {
    status,
    code: body.code ?? CODES[status] ?? 'internal',
    message: body.msg ?? body.error_message ?? 'The gateway could not answer.',
    ...(requestId && { requestId }),
    ...(retryAfterS > 0 && { retryAfterS }),
  }
}

/** Advice to the model: what to do next, or what to tell its user. */
function remedyOf({ status, retryAfterS = 1 }: ToolFailure, origin: string): string {
  if (status === 401) return 'Ask the user to set a valid key, as "Authorization: Bearer <key>", in the MCP client.'
  if (status === 402)
    return `Do not retry. Tell the user that the credits are used up: ${origin}/console shows how to top up. The tool key_usage is free and shows the balance.`
  if (status === 403)
    return `Do not retry. The owner of the account can give the key this product in ${origin}/console.`
  if (status === 429) return `Wait ${retryAfterS} s, then retry. Send fewer calls at once.`
  if (status >= 500) return `Wait ${retryAfterS} s, then retry. Use longer waits if it fails again.`
  if (status === 404) return 'Do not retry. This gateway does not have it.'
  return 'Correct the field that the message names, then call the tool again.'
}

/** Schema of the structured content of a tool. */
export function outputOf({ output }: Tool) {
  return z.object({
    result: output.optional(),
    next_cursor: z.string().optional(),
    credits_cost: z.string().describe('Credits charged'),
    price: z.string().optional().describe('With dryRun'),
    block_height: z.number().optional(),
    age_seconds: z.number().optional(),
    error: z.unknown().optional(),
  })
}

type Content = Readonly<Record<string, unknown>>

/** Not an interface: the SDK's type has an index signature. */
export type ToolResult = {
  content: { type: 'text'; text: string }[]
  structuredContent: Record<string, unknown>
  isError?: boolean
  _meta?: Record<string, unknown>
}

export function contentOf(structuredContent: Content): ToolResult {
  return { content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }], structuredContent }
}

/** `startedMs`: time of the first page. */
export function successResult(shaped: Shaped, input: unknown, facts: CallFacts, startedMs: number) {
  const { result, nextCursor } = fitted(shaped, maxBytesOf(input), pageOf(input), startedMs)
  return contentOf({
    result,
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
    ...factFields(facts),
  })
}

function factFields({ costMicro, height, ageS }: CallFacts): Content {
  return {
    credits_cost: formatCredits(costMicro),
    ...(height !== null && { block_height: height }),
    ...(ageS > 0 && { age_seconds: ageS }),
  }
}

export function priceResult(price: string) {
  return contentOf({ price, credits_cost: '0' })
}

const MAX_MESSAGE = 1_000

/** `facts`: of the answers that succeeded, which are charged. */
export function failureResult(failure: ToolFailure, facts: CallFacts, origin: string) {
  const { status, code, message, requestId } = failure
  const error = {
    code,
    status,
    message: message.slice(0, MAX_MESSAGE),
    what_to_do: remedyOf(failure, origin),
    ...(requestId !== undefined && { request_id: requestId }),
  }
  return { ...contentOf({ error, ...factFields(facts) }), isError: true }
}

/** The failure of answers that do not have their published form. */
export const UNEXPECTED: ToolFailure = {
  status: 502,
  code: 'upstream_failed',
  message: 'The answer of a source does not have the published form. The tool info returns it unchanged.',
}
