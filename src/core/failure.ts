// Every way in which Weir refuses or fails, as one closed union. Each surface turns it into bytes
// in exactly one exhaustive switch (edge/failure-wire.ts, stream/failure-frame.ts).

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
  readonly caller?: { readonly account: string; readonly keyHash: string }
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
  /**
   * `capMicro`: the cap of the caller's key, where that is what leaves too little. `byToken`: the caller has a stream
   * token, which can look nothing up.
   */
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

/** Wire code of a failure, the same on every surface that has room for one. */
export function failureCode(failure: Failure): FailureCode {
  switch (failure.kind) {
    case 'key_missing':
    case 'key_malformed':
    case 'key_unknown':
    case 'key_revoked':
    case 'key_replaced':
    case 'key_expired':
      return 'unauthorized'
    case 'not_entitled':
      return 'forbidden'
    case 'credits_exhausted':
      return 'credits_exhausted'
    case 'rate_limited':
    case 'limit_reached':
      return 'rate_limited'
    case 'not_json':
      return 'invalid_json'
    case 'unsupported_media_type':
      return 'unsupported_media_type'
    case 'body_too_large':
      return 'body_too_large'
    case 'unknown_type':
      return 'unsupported_type'
    case 'not_found':
      return 'not_found'
    case 'method_not_allowed':
      return 'method_not_allowed'
    case 'bad_field':
      return 'invalid_request'
    case 'upstream_failed':
      return 'upstream_failed'
    case 'upstream_timeout':
      return 'upstream_timeout'
    case 'unavailable':
      return 'unavailable'
    case 'internal':
      return 'internal'
  }
}

/** Of a key that its account's meter calls revoked: that another one has its place, the meter does not know. */
export const KEY_ENDED: Failure = {
  kind: 'key_revoked',
  hint: 'This API key was revoked or replaced: use the key that replaced it, or ask the operator for a new one.',
}

/** Where whoever has come to the wrong place reads on. */
export const SEE_DOCS = 'GET /docs describes all that there is.'

/** The refusal of a path that nothing is behind; `meant`: a request that is probably meant, such as `POST /info`. */
export function noEndpoint(meant?: string): Failure {
  const question = meant === undefined ? '.' : `; did you mean ${meant}?`
  return { kind: 'not_found', what: 'This endpoint', hint: `This endpoint does not exist${question} ${SEE_DOCS}` }
}

/** What `what` costs, what is left, and who can add to it: the account's payer, or whoever capped the key. */
export function creditsShort(what: string, short: FailureKind & { readonly kind: 'credits_exhausted' }): string {
  const { neededMicro, remainingMicro, capMicro, byToken } = short
  const sums = `${what} costs ${neededMicro / 1e6}, ${remainingMicro / 1e6} remain`
  if (byToken) return `${sums} of the key that made this stream token. The owner of that key can add credits.`
  if (capMicro === undefined) return `${sums}. Top up the account: GET /platform/key/ shows its balance.`
  const remedy =
    'A service key of the account can raise it (PATCH /platform/keys/{key}); a top-up does not help. GET /platform/key/ shows it.'
  return `${sums} of this key's cap of ${capMicro / 1e6}. ${remedy}`
}

/** One sentence for a person: what was wrong and what to do. Never carries an internal message. */
export function failureMessage(failure: Failure): string {
  if (failure.hint !== undefined) return failure.hint
  switch (failure.kind) {
    case 'key_missing':
      return 'No API key: send it as "Authorization: Bearer <key>", or as ?key= on a WebSocket URL.'
    case 'key_malformed':
      return 'The API key is malformed or truncated: it is "cqt_" followed by 26 base58 characters.'
    case 'key_unknown':
      return 'This API key does not exist here: was it made for another gateway? Ask the operator for one.'
    case 'key_revoked':
      return 'This API key was revoked: ask the operator for a new one.'
    case 'key_replaced':
      return 'This API key was replaced: use the key that replaced it.'
    case 'key_expired':
      return 'This API key has expired: ask the operator for a new one.'
    case 'not_entitled':
      return failure.why
    case 'credits_exhausted':
      return `Not enough credits: ${creditsShort('this', failure)}`
    case 'rate_limited':
      return `Too many requests: retry after ${Math.ceil(failure.retryAfterMs / 1000)} s.`
    case 'limit_reached':
      return `${failure.limit}: this account's plan allows ${failure.most} at a time: end one, or ask for a larger plan.`
    case 'not_json':
      return 'The request body is not valid JSON: send one JSON object.'
    case 'unsupported_media_type':
      return 'Send the request with "Content-Type: application/json".'
    case 'body_too_large':
      return `The request body is larger than ${failure.limitBytes} bytes: send less at a time.`
    case 'unknown_type': {
      const meant = failure.meant === undefined ? '' : `; did you mean ${JSON.stringify(failure.meant)}?`
      return `The type ${JSON.stringify(failure.type.slice(0, 64))} is not supported${meant || '.'} ${SEE_DOCS}`
    }
    case 'not_found':
      return `${failure.what} does not exist.`
    case 'method_not_allowed':
      return `This endpoint takes ${failure.allow.join(', ')}. ${SEE_DOCS}`
    case 'bad_field':
      return failure.issues.map((issue) => `${issue.path || 'body'}: ${issue.message}`).join('; ')
    case 'upstream_failed':
      return `The source "${failure.source}" answered with an error: retry with backoff.`
    case 'upstream_timeout':
      return `The source "${failure.source}" did not answer in time: retry with backoff.`
    case 'unavailable':
      return `${failure.what}: retry with backoff.`
    case 'internal':
      return 'Something went wrong on our side; quote the request id when you report it.'
  }
}
