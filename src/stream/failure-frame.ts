// Failure → what a socket is told: its column beside the HTTP surfaces' (edge/failure-wire.ts).
// Law: the code is the same as on every surface, but that of a key which may do no more is always `unauthorized`; one
// exhaustive switch says which close follows where a failure ends all.

import { type Failure, type FailureCode, failureCode, failureMessage } from '../core/failure.ts'
import { errorFrame, invalidSubscription } from './frames.ts'
import type { UpFrame } from './protocol.ts'

/**
 * The error frame of a failure. Of a frame that is not served for it the sender finds what it waits for: the body of a
 * subscribe, or the `id` of a `post` at the very end.
 */
export function failureFrame(failure: Failure, sent: UpFrame | null = null): string {
  if (sent?.method === 'subscribe') return refusedSubscription(JSON.stringify(sent.subscription), failure)
  const end = sent?.method === 'post' ? ` id=${sent.id}` : ''
  return errorFrame(failureMessage(failure) + end, failureCode(failure))
}

/** Answers a subscription that is refused, in the public server's words. `echo` is JSON of its body as sent. */
export function refusedSubscription(echo: string, failure: Failure): string {
  return invalidSubscription(echo, failureMessage(failure), failureCode(failure))
}

/** Of a socket. */
export interface SocketEnd {
  readonly code: number
  /** At most 123 bytes, as the protocol wants. */
  readonly reason: string
  /** Its last frame. */
  readonly last: string
}

/** How a socket ends by a failure after which it can have nothing more. */
export function socketEnd(failure: Failure): SocketEnd {
  const [code, reason] = closeOf(failure)
  const told: FailureCode = code === 4401 ? 'unauthorized' : failureCode(failure)
  return { code, reason, last: errorFrame(failureMessage(failure), told) }
}

function closeOf(failure: Failure): readonly [code: number, reason: string] {
  switch (failure.kind) {
    case 'key_missing':
    case 'key_malformed':
    case 'key_unknown':
      return [4401, 'key unknown']
    case 'key_revoked':
      return [4401, 'key revoked']
    case 'key_replaced':
      return [4401, 'key replaced']
    case 'key_expired':
      return [4401, 'key expired']
    case 'not_entitled':
      return [4401, 'key not entitled']
    case 'credits_exhausted':
      return [4402, 'credits exhausted']
    case 'rate_limited':
    case 'limit_reached':
      return [1008, 'too many messages']
    case 'not_json':
    case 'unsupported_media_type':
    case 'body_too_large':
    case 'unknown_type':
    case 'not_found':
    case 'method_not_allowed':
    case 'bad_field':
      return [1008, 'refused']
    case 'upstream_failed':
    case 'upstream_timeout':
      return [1013, 'a source is unavailable']
    case 'unavailable':
      return [1013, failure.what]
    case 'internal':
      return [1011, 'internal']
  }
}
