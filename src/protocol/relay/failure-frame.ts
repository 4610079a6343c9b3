// Failure → what a socket is sent (HTTP: protocol/failure-wire.ts).
// Invariant: the code is the same as on every surface, but that of a key which may do no more is always `unauthorized`.

import { FAILURES, type Failure, type FailureCode, failureCode, failureMessage } from '../../core/failure.ts'
import { errorFrame, invalidSubscription } from './frames.ts'
import type { UpFrame } from './protocol.ts'

/** Of a frame that is not served for it: with the body of a subscribe, or the `id` of a `post` at the very end. */
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
export interface SocketClose {
  readonly code: number
  /** At most 123 bytes, as the protocol wants. */
  readonly reason: string
  /** Its last frame. */
  readonly lastFrame: string
}

/** How a socket ends by a failure after which it can have nothing more. */
export function socketClose(failure: Failure): SocketClose {
  const { close: code, reason: reasonOfKind } = FAILURES[failure.kind]
  const reason = failure.kind === 'unavailable' ? failure.what : reasonOfKind
  const told: FailureCode = code === 4401 ? 'unauthorized' : failureCode(failure)
  return { code, reason, lastFrame: errorFrame(failureMessage(failure), told) }
}
