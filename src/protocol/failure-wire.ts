// Encodes failures for HTTP: info, REST, JSON-RPC, and GraphQL before its upgrade. failure-frame.ts encodes them for
// sockets. Invariant: a reply never contains a stack trace, an internal message or a key.

import { formatCredits } from '../core/amount.ts'
import { FAILURES, type Failure, failureCode, failureMessage } from '../core/failure.ts'
import { limitHeaders } from './limit-headers.ts'
import { REQUEST_ID_HEADER } from './request-id.ts'

/** Header of a rejected request, which is free. */
export const NO_COST = { 'x-credits-cost': '0' } as const

/** Estimated wait until something that counts toward the limit ends. Nothing announces that end. */
const LIMIT_RETRY_S = 10

/** A reply in a form that every HTTP surface can send. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Null if the reply has no body. */
  readonly body: string | null
}

export interface WireFailure extends Reply {
  readonly body: string
}

/**
 * `POST /info`, the WebSocket upgrade, and everything below `/k/`: `{error?, code, msg, message, request_id}`. Public
 * clients each read a different field. One of them ignores the status if it finds `error`, so `error` is omitted when
 * the status alone implies the remedy (renew the key, wait, retry). It is present where that client would otherwise
 * accept the reply as data (402) or treat the gateway as down (other 4xx).
 */
export function infoFailure(failure: Failure, requestId: string): WireFailure {
  const status = infoStatus(failure.kind)
  const code = failureCode(failure)
  const msg = failureMessage(failure)
  const body = {
    ...(status === 401 || status === 429 || status >= 500 ? {} : { error: code }),
    code,
    msg,
    message: msg,
    request_id: requestId,
    ...(failure.kind === 'unknown_type' ? { type: failure.type.slice(0, 64), types: failure.types } : {}),
    ...(failure.kind === 'limit_reached' ? { limit: failure.limit, most: failure.most } : {}),
  }
  const reply = wireFailure(status, failure, requestId, body)
  return { ...reply, headers: { ...reply.headers, ...NO_COST } }
}

/** Like the exchange, `/info` responds to a bad field with 422; other surfaces use 400. */
export const infoStatus = (kind: Failure['kind']) => (kind === 'bad_field' ? 422 : FAILURES[kind].http)

/** REST data, platform and admin: `{error, error_message, error_code}`, with the status as a string. */
export function restFailure(failure: Failure, requestId: string): WireFailure {
  const status = FAILURES[failure.kind].http
  const text = failureMessage(failure)
  const message = failure.kind === 'internal' ? `${text} (${requestId})` : text
  return wireFailure(status, failure, requestId, { error: true, error_message: message, error_code: String(status) })
}

/** JSON-RPC, `/v1/<chain>`: `{jsonrpc, id, error: {code, message}}`. The id is echoed as written. */
export function rpcFailure(failure: Failure, requestId: string, id = 'null'): WireFailure {
  const { http, rpc: code } = FAILURES[failure.kind]
  // The request was valid JSON-RPC; the error is its result.
  const status = code === -32601 || code === -32602 ? 200 : http
  const text = failureMessage(failure)
  const message = failure.kind === 'internal' ? `${text} (${requestId})` : text
  const { headers } = wireFailure(status, failure, requestId, {})
  return { status, headers: { ...headers, ...NO_COST }, body: rpcErrorText({ status, code, message }, id) }
}

export interface RpcError {
  /** HTTP status if the response contains only this reply. */
  readonly status: number
  readonly code: number
  readonly message: string
}

/** The id as a JSON string, because it is echoed exactly as it was written. */
export function rpcErrorText({ code, message }: RpcError, id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":${JSON.stringify(message)}}}`
}

/** `/graphql` before the upgrade: `{errors: [{message, extensions: {code}}]}`. */
export function graphqlFailure(failure: Failure, requestId: string): WireFailure {
  const extensions = { code: failureCode(failure).toUpperCase() }
  return wireFailure(FAILURES[failure.kind].http, failure, requestId, {
    errors: [{ message: failureMessage(failure), extensions }],
  })
}

/** Seconds for `Retry-After`; null if the failure has no set retry time. */
function retryAfterSeconds(failure: Failure): number | null {
  if (failure.kind === 'rate_limited') return Math.max(1, Math.ceil(failure.retryAfterMs / 1000))
  if (failure.kind === 'limit_reached') return LIMIT_RETRY_S
  if (failure.kind === 'unavailable') return Math.max(1, Math.ceil((failure.retryAfterMs ?? 1000) / 1000))
  return null
}

function wireFailure(status: number, failure: Failure, requestId: string, body: object): WireFailure {
  const retryAfter = retryAfterSeconds(failure)
  const left = 'remainingMicro' in failure ? failure.remainingMicro : undefined
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      [REQUEST_ID_HEADER]: requestId,
      ...(retryAfter === null ? {} : { 'retry-after': String(retryAfter) }),
      ...(failure.kind === 'rate_limited' && failure.limit ? limitHeaders(failure.limit, 0, retryAfter ?? 1) : {}),
      ...(left === undefined ? {} : { 'x-credits-remaining': formatCredits(left) }),
      ...(failure.kind === 'method_not_allowed' ? { allow: failure.allow.join(', ') } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
    body: JSON.stringify(body),
  }
}
