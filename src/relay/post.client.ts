// `{"method":"post"}` on a socket: an info request answered over the same connection, at its normal price.

import { type Identity, productNotAllowed } from '../accounts/identity.ts'
import { orFallback, orReject } from '../core/deadline.ts'
import { failureMessage } from '../core/failure.ts'
import { after, sleep } from '../core/timers.client.ts'
import { failureFrame } from '../protocol/relay/failure-frame.ts'
import { postErrorFrame, postFrame } from '../protocol/relay/frames.ts'
import type { PostFrame } from '../protocol/relay/protocol.ts'
import { FairQueue } from './books/fair-queue.ts'
import type { FirstFramePorts, HistoryResponse } from './events/first-frames.ts'
import type { Connection } from './sockets/connection.ts'
import { MAX_POSTS_IN_FLIGHT } from './sockets/connection.ts'

/** Answers under way at a relay: one is in memory whole, and may have a megabyte. An account has half of them at most. */
const MAX_IN_FLIGHT = 32
/** Of a gateway that hangs; a source that does is given up sooner. */
const RESPONSE_TIMEOUT_MS = 30_000

interface InfoResponse {
  readonly status: number
  readonly body: string
  /** Fields of the request that were ignored, where there are some. */
  readonly ignored?: string | undefined
}

/** The gateway as a relay reaches it: entry point `Internal` of the gateway Worker. */
export interface GatewayInternal {
  /** Answers the JSON body of an info request; authenticated already, charged there. */
  info(identity: Identity, body: string): Promise<InfoResponse>
  /** The answer to an info request of a stream, whose minutes pay for it; null where it cannot be had now. */
  read(type: string, request: Readonly<Record<string, unknown>>): Promise<HistoryResponse | null>
}

/** So long a first frame waits for one answer. */
const READ_TIMEOUT_MS = 5_000

/** Where first frames and states come from: the gateway's info, and what the platform does. */
export function infoPorts(gateway: Pick<GatewayInternal, 'read'>) {
  const read: FirstFramePorts['read'] = ({ type, ...request }) =>
    orFallback(gateway.read(type, request), READ_TIMEOUT_MS, null, after)
  const onDeflateError = (type: string, error: unknown) => console.error(`frames of ${type} could not be packed`, error)
  return { read, after, wait: sleep, deflate, onDeflateError }
}

/** The same, asked for few answers at once: the others wait, and accounts take turns. */
export function withFairQueue(gateway: Pick<GatewayInternal, 'info'>): Pick<GatewayInternal, 'info'> {
  const turns = new FairQueue(MAX_IN_FLIGHT)
  return {
    async info(identity, body) {
      const ticket = turns.enqueue(identity.account)
      await ticket.turn
      try {
        return await orReject(gateway.info(identity, body), RESPONSE_TIMEOUT_MS, after)
      } finally {
        turns.release(ticket)
      }
    },
  }
}

/**
 * Sends the answer, or a `post` of type error, in the public server's shape. Resolves to what was ignored of the payload, if
 * something was. Never throws.
 */
export async function handlePost(
  connection: Connection,
  frame: PostFrame,
  gateway: Pick<GatewayInternal, 'info'>,
): Promise<string | null> {
  const { id, request } = frame
  if (request.type !== 'info') {
    const how = '{"type":"info","payload":{"type":"allMids"}}'
    connection.send(postErrorFrame(id, `400: request.type: only "info" is served here, such as ${how}`))
    return null
  }
  if (!connection.identity.products.includes('info')) {
    connection.send(postErrorFrame(id, `403: ${failureMessage(productNotAllowed('info'))}`))
    return null
  }
  if (connection.pendingPosts >= MAX_POSTS_IN_FLIGHT) {
    const hint = 'too many pending post requests'
    connection.send(failureFrame({ kind: 'rate_limited', retryAfterMs: 0, hint }, frame))
    return null
  }
  connection.pendingPosts++
  try {
    const answer = await gateway.info(connection.identity, JSON.stringify(request.payload ?? null))
    const type = (request.payload as { type?: unknown } | null)?.type
    if (answer.status >= 200 && answer.status < 300) connection.send(postFrame(id, String(type), answer.body))
    else connection.send(postErrorFrame(id, `${answer.status}: ${messageOf(answer.body)}`))
    return answer.ignored ?? null
  } catch {
    connection.send(postErrorFrame(id, '503: the request could not be answered: retry with backoff'))
    return null
  } finally {
    connection.pendingPosts--
  }
}

function messageOf(body: string): string {
  try {
    const { msg } = JSON.parse(body) as { msg?: unknown }
    return typeof msg === 'string' ? msg : body
  } catch {
    return body
  }
}

/** Base64 of the text, deflated without a head. */
export async function deflate(text: string): Promise<string> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
