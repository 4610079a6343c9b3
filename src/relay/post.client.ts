// `{"method":"post"}` on a socket: an info request over the same connection, at its normal price.

import { type Identity, productNotAllowed } from '../accounts/identity.ts'
import { orFallback, orReject } from '../core/deadline.ts'
import { failureMessage } from '../core/failure.ts'
import { logEvent } from '../core/log.client.ts'
import { after, sleep } from '../core/timers.client.ts'
import { failureFrame } from '../protocol/relay/failure-frame.ts'
import { postErrorFrame, postFrame } from '../protocol/relay/frames.ts'
import type { PostFrame } from '../protocol/relay/protocol.ts'
import { FairQueue } from './books/fair-queue.ts'
import type { FirstFramePorts, HistoryResponse } from './events/first-frames.ts'
import type { Connection } from './sockets/connection.ts'
import { MAX_POSTS_IN_FLIGHT } from './sockets/connection.ts'

/**
 * Maximum concurrent responses of a relay. Each response is fully in memory and may take a megabyte. An account may use
 * half of them.
 */
const MAX_IN_FLIGHT = 32
/** Timeout for a gateway that hangs. A source times out sooner. */
const RESPONSE_TIMEOUT_MS = 30_000

interface InfoResponse {
  readonly status: number
  readonly body: string
  /** Ignored fields of the request, if any. */
  readonly ignored?: string | undefined
  /** Cursor of the next page, if the response is a page. */
  readonly nextCursor?: string | undefined
}

/** Entry point `Internal` of the gateway Worker, as a relay uses it. */
export interface GatewayInternal {
  /** Handles the JSON body of an authenticated info request and charges it. */
  info(identity: Identity, body: string): Promise<InfoResponse>
  /** Fetches info for a stream. The stream's minutes pay for it. Null if it is unavailable now. */
  read(type: string, request: Readonly<Record<string, unknown>>): Promise<HistoryResponse | null>
}

/** How long a first frame waits for a response. */
const READ_TIMEOUT_MS = 5_000

/** Ports for first frames and states. */
export function infoPorts(gateway: Pick<GatewayInternal, 'read'>) {
  const read: FirstFramePorts['read'] = ({ type, ...request }) =>
    orFallback(gateway.read(type, request), READ_TIMEOUT_MS, null, after)
  const onDeflateError = (type: string, error: unknown) => logEvent('deflate_failed', { type, error })
  return { read, after, wait: sleep, deflate, onDeflateError }
}

/** Limits concurrent info requests; accounts take turns. */
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
 * Sends the response, or a `post` of type error, in the public server's shape. Resolves to the ignored payload fields,
 * or null. Never throws.
 */
export async function handlePost(
  connection: Connection,
  frame: PostFrame,
  gateway: Pick<GatewayInternal, 'info'>,
): Promise<string | null> {
  const { id, request } = frame
  if (request.type !== 'info') {
    const how = '{"type":"info","payload":{"type":"allMids"}}'
    connection.send(postErrorFrame(id, `400: request.type: only "info" is supported, such as ${how}`))
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
    const response = await gateway.info(connection.identity, JSON.stringify(request.payload ?? null))
    const type = (request.payload as { type?: unknown } | null)?.type
    if (response.status >= 200 && response.status < 300)
      connection.send(postFrame(id, String(type), response.body, response.nextCursor))
    else connection.send(postErrorFrame(id, `${response.status}: ${messageOf(response.body)}`))
    return response.ignored ?? null
  } catch {
    connection.send(postErrorFrame(id, '503: the request failed. Retry with backoff'))
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

/** Returns base64 of the raw-deflated string. */
export async function deflate(text: string): Promise<string> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
