// Failure → JSON-RPC: the specification's codes, and the HTTP status that goes with each. Texts, because an id is echoed as
// it was written.

import { type Failure, failureMessage } from '../core/failure.ts'

export interface RpcError {
  /** Of HTTP, where this is the whole answer. */
  readonly status: number
  readonly code: number
  readonly message: string
}

export function rpcErrorText({ code, message }: RpcError, id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":${JSON.stringify(message)}}}`
}

/** The error of a failure; `status` is what the failure has on every HTTP surface. */
export function rpcErrorOf(failure: Failure, status: number, requestId: string): RpcError {
  const code = codeOf(failure)
  const message = failureMessage(failure)
  // The call was understood, and its answer is that it cannot be.
  if (code === -32601 || code === -32602) return { status: 200, code, message }
  return { status, code, message: failure.kind === 'internal' ? `${message} (${requestId})` : message }
}

function codeOf(failure: Failure): number {
  switch (failure.kind) {
    case 'key_missing':
    case 'key_malformed':
    case 'key_unknown':
    case 'key_revoked':
    case 'key_replaced':
    case 'key_expired':
      return -32001
    case 'not_entitled':
      return -32002
    case 'credits_exhausted':
      return -32003
    case 'rate_limited':
    case 'limit_reached':
      return -32005
    case 'not_json':
      return -32700
    case 'unknown_type':
      return -32601
    case 'bad_field':
      return -32602
    case 'unsupported_media_type':
    case 'body_too_large':
    case 'not_found':
    case 'method_not_allowed':
      return -32600
    case 'upstream_failed':
    case 'upstream_timeout':
    case 'unavailable':
    case 'internal':
      return -32603
  }
}
