// The interface of a tool: its input and output schema, its requests, and how their answers become a result. A tool
// makes no request itself. The server sends them to the gateway's own surfaces with the caller's key, so prices, limits
// and failures are theirs.

import * as z from 'zod'
import type { MicroCredits } from '../../core/amount.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { queryOf } from '../../info/queries/catalogue.ts'
import { priceOf } from '../../info/query.ts'
import { CURSOR, FIRST_PAGE, type Page } from './page-cursor.ts'

/** A request of a tool: a body of `POST /info`, or a path of the REST API for GET. */
export type ToolRequest =
  | { readonly info: { readonly type: string; readonly [field: string]: unknown } }
  | { readonly path: string; readonly price: MicroCredits }

/** The circumstances of a call. `nowMs` is the time of the first page, so that all pages have the same window. */
export interface CallContext {
  readonly chain: string
  readonly origin: string
  readonly nowMs: number
  readonly page: Page
}

/** The answer of a successful request. `nextCursor`: the header `x-next-cursor`. */
export interface Answer {
  readonly body: unknown
  readonly nextCursor: string | null
}

/** A result: fixed fields, and at most one list, which is cut to the size limit and continued by a cursor. */
export interface Shaped {
  readonly fields: Readonly<Record<string, unknown>>
  readonly list?: {
    readonly name: string
    readonly rows: readonly unknown[]
    /** Cursor of the surface for the rows after these; null or absent: none. */
    readonly next?: string | null
  }
}

/** Why a call has no result, in the words of the surface that rejected it. */
export interface ToolFailure {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly requestId?: string
  readonly retryAfterS?: number
}

export interface Tool<Input = Readonly<Record<string, unknown>>> {
  readonly name: string
  readonly title: string
  /** For a model: what the tool returns, and what it does not. The price is appended. */
  readonly description: string
  /** Price for the description, such as `1 credit`. */
  readonly price: string
  readonly input: z.ZodType<Input>
  /** Schema of `result`. */
  readonly output: z.ZodType
  readonly requests: (input: Input, call: CallContext) => readonly ToolRequest[]
  /** A free request whose answer has the price as `credits`, if the requests do not determine it. */
  readonly estimate?: (input: Input, call: CallContext) => ToolRequest
  readonly result: (answers: readonly Answer[], input: Input, call: CallContext) => Result<Shaped, ToolFailure>
}

const DEFAULT_BYTES = 8_000
const MAX_BYTES = 64_000

const CALL_FIELDS = {
  dryRun: z.boolean().optional().describe('Return only the price'),
  maxBytes: z.int().min(1_000).max(MAX_BYTES).optional().describe('Default 8000'),
}

/** Fields that a tool with a list adds to its input. */
export const PAGED = { cursor: CURSOR }

/** Parsed fields that the calls of all tools share. */
interface CallFields {
  readonly dryRun?: boolean | undefined
  readonly maxBytes?: number | undefined
  readonly cursor?: Page | undefined
}

interface ToolDefinition<Fields extends z.ZodRawShape>
  extends Omit<Tool<z.infer<z.ZodObject<Fields>>>, 'input' | 'output'> {
  readonly input: Fields
  readonly output: z.ZodRawShape
}

/** Adds the fields of all tools, and erases the types. Unknown arguments are rejected. */
export function defineTool<const Fields extends z.ZodRawShape>(definition: ToolDefinition<Fields>): Tool {
  const { input, output, ...tool } = definition
  return {
    ...tool,
    input: z.strictObject({ ...input, ...CALL_FIELDS }),
    // Fields that a market or a wallet does not have are absent.
    output: z.looseObject(output).partial(),
  } as unknown as Tool
}

export const isDryRun = (input: unknown) => (input as CallFields).dryRun === true
export const maxBytesOf = (input: unknown) => (input as CallFields).maxBytes ?? DEFAULT_BYTES
export const pageOf = (input: unknown) => (input as CallFields).cursor ?? FIRST_PAGE

/** Sum of the prices. Fails with the issue of the first invalid request, as its surface would. */
export function priceOfRequests(requests: readonly ToolRequest[]): Result<MicroCredits, ToolFailure> {
  let sum = 0
  for (const request of requests) {
    const price = 'path' in request ? ok(request.price) : priceOfInfo(request.info)
    if (!price.ok) return price
    sum += price.value
  }
  return ok(sum)
}

function priceOfInfo(body: { readonly type: string }): Result<MicroCredits, ToolFailure> {
  const query = queryOf(body.type)
  if (query === undefined)
    return err({ status: 400, code: 'unsupported_type', message: 'The type does not exist. See the tool description.' })
  const parsed = parseWith(query.request, body)
  return parsed.ok ? ok(priceOf(query, parsed.value)) : err(invalid(parsed.error))
}

function invalid(issues: readonly { readonly path: string; readonly message: string }[]): ToolFailure {
  const message = issues.map(({ path, message: text }) => `${path || 'request'}: ${text}`).join('; ')
  return { status: 422, code: 'invalid_request', message }
}

/** Failure of an argument that only the answers can judge. */
export function badArgument(path: string, message: string): Result<never, ToolFailure> {
  return err(invalid([{ path, message }]))
}

/** A description with its price, for a model. */
export function describedTool({ description, price }: Tool): string {
  return `${description} Price: ${price}.`
}
