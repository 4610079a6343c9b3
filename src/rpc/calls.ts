// Parses a JSON-RPC body into calls with ids and parameters as strings, so the caller's exact bytes are forwarded and
// echoed. Invariants: either the whole body is rejected, or individual calls are; an id is never converted to a number.

import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { RpcError } from '../protocol/failure-wire.ts'
import { BATCH_MAX } from './chains.ts'
import { elementsOf, membersOf } from './json-spans.ts'

export interface RpcCall {
  /** Id as written; null for a notification. */
  readonly id: string | null
  readonly method: string
  /** Parameters as written; empty if absent. */
  readonly params: string
  /** Parsed parameters. */
  readonly values: unknown
}

/** An invalid call, with the id for its error. A null id marks a notification, which gets no response. */
interface BadCall {
  readonly id: string | null
  readonly error: RpcError
}

export interface RpcBody {
  readonly isBatch: boolean
  readonly calls: readonly Result<RpcCall, BadCall>[]
}

const METHOD = /^\w{1,64}$/
const MEMBERS = ['id', 'params']

const invalidRequest = (message: string, status = 200): RpcError => ({ status, code: -32600, message })
const parseError = (message: string): RpcError => ({ status: 400, code: -32700, message })

export function readBody(text: string): Result<RpcBody, RpcError> {
  if (isDeeperThan(text)) return err(parseError(`Parse error: the body nests deeper than ${JSON_MAX_DEPTH} levels.`))
  const value = parseJson(text)
  if (value === undefined) return err(parseError('Parse error: the request body is not valid JSON.'))
  if (!Array.isArray(value)) return ok({ isBatch: false, calls: [readCall(text, 0, value, 400)] })
  if (value.length === 0) return err(invalidRequest('Invalid request: the batch is empty.', 400))
  if (value.length > BATCH_MAX)
    return err(
      invalidRequest(`Invalid request: a batch has at most ${BATCH_MAX} calls, but this one has ${value.length}.`, 400),
    )
  const calls = elementsOf(text).map(({ start }, at) => readCall(text, start, value[at], 200))
  return ok({ isBatch: true, calls })
}

function readCall(text: string, start: number, value: unknown, status: number): Result<RpcCall, BadCall> {
  const bad = (why: string, id = 'null') => err({ id, error: invalidRequest(`Invalid request: ${why}.`, status) })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad('a call must be an object')
  const [idSpan, paramsSpan] = membersOf(text, start, MEMBERS)
  // Not destructured: a member such as `__proto__` must be read as plain JSON.
  const call = value as {
    readonly jsonrpc?: unknown
    readonly id?: unknown
    readonly method?: unknown
    readonly params?: unknown
  }
  const id = idSpan === undefined ? null : text.slice(idSpan.start, idSpan.end)
  if (call.id !== undefined && call.id !== null && typeof call.id !== 'string' && typeof call.id !== 'number')
    return bad('"id" must be a string, a number or null')
  if (call.jsonrpc !== '2.0') return bad('"jsonrpc" must be "2.0"', id ?? 'null')
  if (typeof call.method !== 'string') return bad('"method" must be a string', id ?? 'null')
  if (call.params !== undefined && typeof call.params !== 'object')
    return bad('"params" must be a list or an object', id ?? 'null')
  if (!METHOD.test(call.method)) return err({ id, error: methodNotFound(JSON.stringify(call.method.slice(0, 64))) })
  const params = paramsSpan === undefined ? '' : text.slice(paramsSpan.start, paramsSpan.end)
  return ok({ id, method: call.method, params, values: call.params })
}

/** Uses the wording of Ethereum nodes, which clients match to fall back from a method. */
export function methodNotFound(method: string): RpcError {
  const isStream = /^eth_(?:un)?subscribe$/.test(method)
  const why = isStream ? ': JSON-RPC has no WebSocket here. Poll, or subscribe at /ws' : ''
  return { status: 200, code: -32601, message: `the method ${method} does not exist/is not available${why}` }
}
