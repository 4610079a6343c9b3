// Every way in which Weir refuses or fails: one closed union, and one table of what each surface makes of it. The bytes
// are written in protocol/failure-wire.ts (HTTP) and protocol/relay/failure-frame.ts (sockets).

import type { AccountId, KeyHash } from './ids.ts'

/** A field of the caller's input that is wrong: `path` is dotted (`req.coin`), `message` says what to send instead. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** So many requests within so many seconds, under a name that callers see. */
export interface RequestLimit {
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
}

/**
 * `hint` stands in place of the sentence of its kind, where whoever fails knows better what to do. `caller`: whose key it is
 * that may not enter, for the account's own list of refusals; no surface says it.
 */
export type Failure = FailureKind & {
  readonly hint?: string
  readonly caller?: { readonly account: AccountId; readonly keyHash: KeyHash }
}

type FailureKind =
  | { readonly kind: 'key_missing' }
  /** Not of the form of a key, or its check characters do not match. */
  | { readonly kind: 'key_malformed' }
  | { readonly kind: 'key_unknown' }
  | { readonly kind: 'key_revoked' }
  /** Revoked or expired, and there is a key in its place. */
  | { readonly kind: 'key_replaced' }
  | { readonly kind: 'key_expired' }
  /** `why`: a sentence. */
  | { readonly kind: 'not_entitled'; readonly why: string }
  /** `capMicro`: the key's cap, where that leaves too little. `byToken`: of a stream token, which looks nothing up. */
  | {
      readonly kind: 'credits_exhausted'
      readonly neededMicro: number
      readonly remainingMicro: number
      readonly capMicro?: number | undefined
      readonly byToken?: boolean | undefined
    }
  /** `limit`: the one that was met, where the surface does not tell it by itself. */
  | {
      readonly kind: 'rate_limited'
      readonly retryAfterMs: number
      readonly limit?: RequestLimit
      /** What the key may still spend, where that is known. */
      readonly remainingMicro?: number
    }
  /** As many of something at once as the plan allows: waiting helps only when one of them ends. */
  | { readonly kind: 'limit_reached'; readonly limit: string; readonly most: number }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'unsupported_media_type' }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  /** `meant`: the type that is probably meant; `types`: all that there are, where the surface tells them. */
  | {
      readonly kind: 'unknown_type'
      readonly type: string
      readonly meant?: string | undefined
      readonly types?: readonly string[]
    }
  | { readonly kind: 'not_found'; readonly what: string }
  /** `allow`: the methods that the endpoint takes; at least one. */
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'bad_field'; readonly issues: readonly Issue[] }
  | { readonly kind: 'upstream_failed'; readonly source: string }
  | { readonly kind: 'upstream_timeout'; readonly source: string }
  | { readonly kind: 'unavailable'; readonly what: string; readonly retryAfterMs?: number }
  | { readonly kind: 'internal' }

/** Codes as they appear on the wire in `code` and `error`. */
export type FailureCode =
  | 'unauthorized'
  | 'forbidden'
  | 'credits_exhausted'
  | 'rate_limited'
  | 'invalid_json'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'unsupported_type'
  | 'not_found'
  | 'method_not_allowed'
  | 'invalid_request'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'unavailable'
  | 'internal'

/** Of a key that its account's meter calls revoked: that another one has its place, the meter does not know. */
export const KEY_ENDED: Failure = {
  kind: 'key_revoked',
  hint: 'This API key was revoked or replaced: use the key that replaced it, or ask the operator for a new one.',
}

/** Where whoever has come to the wrong place reads on. */
export const SEE_DOCS = 'GET /docs describes all that there is.'

/** The refusal of a path that nothing is behind; `meant`: a request that is probably meant, such as `POST /info`. */
export function endpointNotFound(meant?: string): Failure {
  const question = meant === undefined ? '.' : `; did you mean ${meant}?`
  return { kind: 'not_found', what: 'This endpoint', hint: `This endpoint does not exist${question} ${SEE_DOCS}` }
}

/** What `what` costs, what is left, and who can add to it: the account's payer, or whoever capped the key. */
export function insufficientCredits(what: string, short: FailureKind & { readonly kind: 'credits_exhausted' }): string {
  const { neededMicro, remainingMicro, capMicro, byToken } = short
  const sums = `${what} costs ${neededMicro / 1e6}, ${remainingMicro / 1e6} remain`
  if (byToken) return `${sums} of the key that made this stream token. The owner of that key can add credits.`
  if (capMicro === undefined) return `${sums}. Top up the account: GET /platform/key/ shows its balance.`
  const remedy =
    'A service key of the account can raise it (PATCH /platform/keys/{key}); a top-up does not help. GET /platform/key/ shows it.'
  return `${sums} of this key's cap of ${capMicro / 1e6}. ${remedy}`
}

/** What a kind of failure is on each surface. */
interface FailureRow<Kind extends Failure['kind']> {
  /** On every surface that has room for a code. */
  readonly code: FailureCode
  /** Status, where a surface says nothing else (`/info` answers a bad field with 422). */
  readonly http: number
  /** Code of a JSON-RPC error. */
  readonly rpc: number
  /** Close code of a socket that can have nothing more. */
  readonly close: number
  /** Close reason: at most 123 bytes. `unavailable` says what is. */
  readonly reason: string
  /** One sentence for a person: what was wrong and what to do. Never carries an internal message. */
  readonly message: (failure: Extract<FailureKind, { readonly kind: Kind }>) => string
}

const KEY = { code: 'unauthorized', http: 401, rpc: -32001, close: 4401 } as const

export const FAILURES: { readonly [Kind in Failure['kind']]: FailureRow<Kind> } = {
  key_missing: {
    ...KEY,
    reason: 'key unknown',
    message: () => 'No API key: send it as "Authorization: Bearer <key>", or as ?key= on a WebSocket URL.',
  },
  key_malformed: {
    ...KEY,
    reason: 'key unknown',
    message: () => 'The API key is malformed or truncated: it is "cqt_" followed by 26 base58 characters.',
  },
  key_unknown: {
    ...KEY,
    reason: 'key unknown',
    message: () => 'This API key does not exist here: was it made for another gateway? Ask the operator for one.',
  },
  key_revoked: {
    ...KEY,
    reason: 'key revoked',
    message: () => 'This API key was revoked: ask the operator for a new one.',
  },
  key_replaced: {
    ...KEY,
    reason: 'key replaced',
    message: () => 'This API key was replaced: use the key that replaced it.',
  },
  key_expired: {
    ...KEY,
    reason: 'key expired',
    message: () => 'This API key has expired: ask the operator for a new one.',
  },
  not_entitled: {
    code: 'forbidden',
    http: 403,
    rpc: -32002,
    close: 4401,
    reason: 'key not entitled',
    message: ({ why }) => why,
  },
  credits_exhausted: {
    code: 'credits_exhausted',
    http: 402,
    rpc: -32003,
    close: 4402,
    reason: 'credits exhausted',
    message: (short) => `Not enough credits: ${insufficientCredits('this', short)}`,
  },
  rate_limited: {
    code: 'rate_limited',
    http: 429,
    rpc: -32005,
    close: 1008,
    reason: 'too many messages',
    message: ({ retryAfterMs }) => `Too many requests: retry after ${Math.ceil(retryAfterMs / 1000)} s.`,
  },
  limit_reached: {
    code: 'rate_limited',
    http: 429,
    rpc: -32005,
    close: 1008,
    reason: 'too many messages',
    message: ({ limit, most }) =>
      `${limit}: this account's plan allows ${most} at a time: end one, or ask for a larger plan.`,
  },
  not_json: {
    code: 'invalid_json',
    http: 400,
    rpc: -32700,
    close: 1008,
    reason: 'refused',
    message: () => 'The request body is not valid JSON: send one JSON object.',
  },
  unsupported_media_type: {
    code: 'unsupported_media_type',
    http: 415,
    rpc: -32600,
    close: 1008,
    reason: 'refused',
    message: () => 'Send the request with "Content-Type: application/json".',
  },
  body_too_large: {
    code: 'body_too_large',
    http: 413,
    rpc: -32600,
    close: 1008,
    reason: 'refused',
    message: ({ limitBytes }) => `The request body is larger than ${limitBytes} bytes: send less at a time.`,
  },
  unknown_type: {
    code: 'unsupported_type',
    http: 400,
    rpc: -32601,
    close: 1008,
    reason: 'refused',
    message: ({ type, meant }) => {
      const question = meant === undefined ? '.' : `; did you mean ${JSON.stringify(meant)}?`
      return `The type ${JSON.stringify(type.slice(0, 64))} is not supported${question} ${SEE_DOCS}`
    },
  },
  not_found: {
    code: 'not_found',
    http: 404,
    rpc: -32600,
    close: 1008,
    reason: 'refused',
    message: ({ what }) => `${what} does not exist.`,
  },
  method_not_allowed: {
    code: 'method_not_allowed',
    http: 405,
    rpc: -32600,
    close: 1008,
    reason: 'refused',
    message: ({ allow }) => `This endpoint takes ${allow.join(', ')}. ${SEE_DOCS}`,
  },
  bad_field: {
    code: 'invalid_request',
    http: 400,
    rpc: -32602,
    close: 1008,
    reason: 'refused',
    message: ({ issues }) => issues.map(({ path, message }) => `${path || 'body'}: ${message}`).join('; '),
  },
  upstream_failed: {
    code: 'upstream_failed',
    http: 502,
    rpc: -32603,
    close: 1013,
    reason: 'a source is unavailable',
    message: ({ source }) => `The source "${source}" answered with an error: retry with backoff.`,
  },
  upstream_timeout: {
    code: 'upstream_timeout',
    http: 504,
    rpc: -32603,
    close: 1013,
    reason: 'a source is unavailable',
    message: ({ source }) => `The source "${source}" did not answer in time: retry with backoff.`,
  },
  unavailable: {
    code: 'unavailable',
    http: 503,
    rpc: -32603,
    close: 1013,
    reason: 'unavailable',
    message: ({ what }) => `${what}: retry with backoff.`,
  },
  internal: {
    code: 'internal',
    http: 500,
    rpc: -32603,
    close: 1011,
    reason: 'internal',
    message: () => 'Something went wrong on our side; quote the request id when you report it.',
  },
}

export const failureCode = ({ kind }: Failure): FailureCode => FAILURES[kind].code

/** The failure's own hint, or the sentence of its kind. */
export function failureMessage(failure: Failure): string {
  const row = FAILURES[failure.kind] as FailureRow<Failure['kind']>
  return failure.hint ?? row.message(failure)
}
