// All refusals and failures of Weir: one closed union of failure kinds, and one table with the form of each kind on
// each surface. protocol/failure-wire.ts (HTTP) and protocol/relay/failure-frame.ts (sockets) encode them.

import { inGroups } from './digit-groups.ts'
import type { AccountId, KeyHash } from './ids.ts'

/** An invalid input field. `path` is dotted, such as `req.coin`. `message` says what to send instead. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** Maximum number of requests per time window, and the name of the limit for callers. */
export interface RequestLimit {
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
}

/**
 * `hint` replaces the default message if the code that fails knows a better remedy. `caller` identifies the rejected
 * key for the account's refusal log. It is never sent to clients.
 */
export type Failure = FailureKind & {
  readonly hint?: string
  readonly caller?: { readonly account: AccountId; readonly keyHash: KeyHash }
}

type FailureKind =
  /** `isMisplaced`: there is a key, where none is accepted. */
  | { readonly kind: 'key_missing'; readonly isMisplaced?: true }
  /** The key has a wrong format or checksum. */
  | { readonly kind: 'key_malformed' }
  | { readonly kind: 'key_unknown' }
  | { readonly kind: 'key_revoked' }
  /** The key was revoked or has expired, and it has a successor. */
  | { readonly kind: 'key_replaced' }
  | { readonly kind: 'key_expired' }
  /** `why`: the reason, as a complete sentence. */
  | { readonly kind: 'not_entitled'; readonly why: string }
  /**
   * `capMicro`: the key's spending limit, if it caused the failure. `byToken`: the caller used a stream token, which
   * cannot read balances.
   */
  | {
      readonly kind: 'credits_exhausted'
      readonly neededMicro: number
      readonly remainingMicro: number
      readonly capMicro?: number | undefined
      readonly byToken?: boolean | undefined
    }
  /** A caller without a key can pay for the call. `why`: how, or why a payment was not taken, as complete sentences. */
  | { readonly kind: 'payment_required'; readonly why: string }
  /** `limit`: the limit that was exceeded, unless the surface has only one. */
  | {
      readonly kind: 'rate_limited'
      readonly retryAfterMs: number
      readonly limit?: RequestLimit
      /** Credits that the key may still spend, if known. */
      readonly remainingMicro?: number
    }
  /** A concurrency limit of the plan. A retry can succeed only after one of the open items has ended. */
  | { readonly kind: 'limit_reached'; readonly limit: string; readonly most: number }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'unsupported_media_type' }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  /** `meant`: the type that was probably intended. `types`: all supported types, on surfaces that list them. */
  | {
      readonly kind: 'unknown_type'
      readonly type: string
      readonly meant?: string | undefined
      readonly types?: readonly string[]
    }
  | { readonly kind: 'not_found'; readonly what: string }
  /** `allow`: the supported methods, at least one. */
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'bad_field'; readonly issues: readonly Issue[] }
  | { readonly kind: 'upstream_failed'; readonly source: string }
  | { readonly kind: 'upstream_timeout'; readonly source: string }
  | { readonly kind: 'unavailable'; readonly what: string; readonly retryAfterMs?: number }
  | { readonly kind: 'internal' }

/** Codes that are sent in the fields `code` and `error`. */
export type FailureCode =
  | 'unauthorized'
  | 'forbidden'
  | 'credits_exhausted'
  | 'payment_required'
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

/** The failure for a key that the meter reports as revoked. The meter does not know whether the key has a successor. */
export const KEY_ENDED: Failure = {
  kind: 'key_revoked',
  hint: 'This API key was revoked or replaced. Use its replacement, or ask the operator for a new key.',
}

/** Refers callers of unknown endpoints to the documentation. */
export const SEE_DOCS = 'See GET /docs for all endpoints.'

/** The failure for an unknown path. `meant`: the request that was probably intended, such as `POST /info`. */
export function endpointNotFound(meant?: string): Failure {
  const question = meant === undefined ? '.' : `; did you mean ${meant}?`
  return { kind: 'not_found', what: 'This endpoint', hint: `This endpoint does not exist${question} ${SEE_DOCS}` }
}

/** Describes the cost, the balance and the remedy: a top-up of the account, or a higher limit of the key. */
export function insufficientCredits(what: string, short: FailureKind & { readonly kind: 'credits_exhausted' }): string {
  const { neededMicro, remainingMicro, capMicro, byToken } = short
  const sums = `${what} costs ${neededMicro / 1e6}, ${remainingMicro / 1e6} remaining`
  if (byToken) return `${sums} for the key that issued this stream token. The owner of that key can add credits.`
  if (capMicro === undefined) return `${sums}. Top up the account. GET /platform/key/ shows the balance.`
  const remedy =
    'A top-up does not help. Raise the limit with a service key (PATCH /platform/keys/{key}); GET /platform/key/ shows it.'
  return `${sums} under this key's spending limit of ${capMicro / 1e6}. ${remedy}`
}

/** The form of one failure kind on each surface. */
interface FailureRow<Kind extends Failure['kind']> {
  /** Error code, for every surface that has error codes. */
  readonly code: FailureCode
  /** Default HTTP status. (`/info` responds to a bad field with 422.) */
  readonly http: number
  /** JSON-RPC error code. */
  readonly rpc: number
  /** Close code of a socket that is closed because of this failure. */
  readonly close: number
  /** Close reason, at most 123 bytes. For `unavailable`, the failure's `what` is used instead. */
  readonly reason: string
  /** Message for a person, which says what is wrong and what to do. It never contains an internal message. */
  readonly message: (failure: Extract<FailureKind, { readonly kind: Kind }>) => string
}

const KEY = { code: 'unauthorized', http: 401, rpc: -32001, close: 4401 } as const

export const FAILURES: { readonly [Kind in Failure['kind']]: FailureRow<Kind> } = {
  key_missing: {
    ...KEY,
    reason: 'key unknown',
    message: () => 'No API key. Send it as "Authorization: Bearer <key>", or as ?key= on a WebSocket URL.',
  },
  key_malformed: {
    ...KEY,
    reason: 'key unknown',
    message: () => 'The API key is malformed or truncated. A key is "cqt_" followed by 26 base58 characters.',
  },
  key_unknown: {
    ...KEY,
    reason: 'key unknown',
    message: () =>
      'This API key does not exist on this gateway. Check that it was issued here, or ask the operator for a key.',
  },
  key_revoked: {
    ...KEY,
    reason: 'key revoked',
    message: () => 'This API key was revoked. Ask the operator for a new key.',
  },
  key_replaced: {
    ...KEY,
    reason: 'key replaced',
    message: () => 'This API key was replaced. Use its replacement.',
  },
  key_expired: {
    ...KEY,
    reason: 'key expired',
    message: () => 'This API key has expired. Ask the operator for a new key.',
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
  payment_required: {
    code: 'payment_required',
    http: 402,
    rpc: -32003,
    close: 4402,
    reason: 'payment required',
    message: ({ why }) => why,
  },
  rate_limited: {
    code: 'rate_limited',
    http: 429,
    rpc: -32005,
    close: 1008,
    reason: 'too many messages',
    message: ({ retryAfterMs }) => `Too many requests. Retry after ${Math.ceil(retryAfterMs / 1000)} s.`,
  },
  limit_reached: {
    code: 'rate_limited',
    http: 429,
    rpc: -32005,
    close: 1008,
    reason: 'too many messages',
    message: ({ limit, most }) =>
      `${limit}: this account's plan allows ${inGroups(most)} at a time. End one first, or ask for a larger plan.`,
  },
  not_json: {
    code: 'invalid_json',
    http: 400,
    rpc: -32700,
    close: 1008,
    reason: 'refused',
    message: () => 'The request body is not valid JSON. Send one JSON object.',
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
    message: ({ limitBytes }) =>
      `The request body exceeds ${inGroups(limitBytes)} bytes. Split the request into smaller ones.`,
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
    message: ({ allow }) => `This endpoint accepts ${allow.join(', ')}. ${SEE_DOCS}`,
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
    message: ({ source }) => `The source "${source}" returned an error. Retry with backoff.`,
  },
  upstream_timeout: {
    code: 'upstream_timeout',
    http: 504,
    rpc: -32603,
    close: 1013,
    reason: 'a source is unavailable',
    message: ({ source }) => `The source "${source}" timed out. Retry with backoff.`,
  },
  unavailable: {
    code: 'unavailable',
    http: 503,
    rpc: -32603,
    close: 1013,
    reason: 'unavailable',
    message: ({ what }) => `${what}. Retry with backoff.`,
  },
  internal: {
    code: 'internal',
    http: 500,
    rpc: -32603,
    close: 1011,
    reason: 'internal',
    message: () => 'Something went wrong on our side. Quote the request id when you report it.',
  },
}

export const failureCode = ({ kind }: Failure): FailureCode => FAILURES[kind].code

/** The failure's hint. If it has none, the default message of its kind. */
export function failureMessage(failure: Failure): string {
  const row = FAILURES[failure.kind] as FailureRow<Failure['kind']>
  return failure.hint ?? row.message(failure)
}
