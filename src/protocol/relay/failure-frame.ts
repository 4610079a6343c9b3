// Encodes failures for sockets; protocol/failure-wire.ts encodes them for HTTP. Invariant: the codes equal those of
// other surfaces, except that a key failure that closes the socket is always `unauthorized`.

import { FAILURES, type Failure, type FailureCode, failureCode, failureMessage } from '../../core/failure.ts'
import { errorFrame, invalidSubscription } from './frames.ts'
import type { UpFrame } from './protocol.ts'

/** Error frame for a rejected frame. For a `subscribe` it contains the body; for a `post` it ends with the `id`. */
export function failureFrame(failure: Failure, sent: UpFrame | null = null): string {
  if (sent?.method === 'subscribe') return refusedSubscription(JSON.stringify(sent.subscription), failure)
  const end = sent?.method === 'post' ? ` id=${sent.id}` : ''
  return errorFrame(failureMessage(failure) + end, failureCode(failure))
}

/** Rejects a subscription in the public server's format. `echo` is the JSON of its body as sent. */
export function refusedSubscription(echo: string, failure: Failure): string {
  return invalidSubscription(echo, failureMessage(failure), failureCode(failure))
}

/** How the gateway closes a socket. */
export interface SocketClose {
  readonly code: number
  /** At most 123 bytes, which is WebSocket's limit. */
  readonly reason: string
  /** Sent before the close. */
  readonly lastFrame: string
}

/** Close code and reason for a socket that ends because of a failure. */
export function socketClose(failure: Failure): SocketClose {
  const { close: code, reason: reasonOfKind } = FAILURES[failure.kind]
  const reason = failure.kind === 'unavailable' ? failure.what : reasonOfKind
  const wireCode: FailureCode = code === 4401 ? 'unauthorized' : failureCode(failure)
  return { code, reason, lastFrame: errorFrame(failureMessage(failure), wireCode) }
}
