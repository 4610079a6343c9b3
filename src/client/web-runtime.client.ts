// The client runtime for platforms with global `WebSocket` and `fetch`: browsers, Workers, Deno, Bun, and Node 22 or
// later. Node 20 needs a WebSocket from a package. These platforms hide the status of a rejected upgrade. The runtime therefore gets the status from a free HTTP
// request with the same key.

import { after } from '../core/timers.client.ts'
import {
  type ClientRuntime,
  type ClientSocket,
  type HttpResponse,
  retryAfterOf,
  type SocketEnd,
  type SocketHandlers,
} from './runtime.ts'
import { messageOf } from './snapshot-request.ts'

const POST_TIMEOUT_MS = 5_000
/** Close code of a connection that ended without a close message. */
const NO_CLOSE_MESSAGE = 1006
/**
 * A request of a type that stream tokens may use, with its coin missing. If the key is accepted, the response is an error
 * that costs nothing.
 */
const PROBE = '{"type":"l2BookDiffSnapshot"}'
/** Statuses after which a retry is useless. */
const REFUSED_STATUSES = [401, 402, 403]

/** Replacements for the globals of the platform. */
export interface WebGlobals {
  readonly WebSocket?: new (url: string) => WebSocket
  readonly fetch?: typeof fetch
}

/** Creates a runtime with the given or global WebSocket and fetch, and timers. */
export function webRuntime({
  WebSocket: Socket = globalThis.WebSocket,
  fetch: fetchOption = fetch,
}: WebGlobals = {}): ClientRuntime & {
  readonly fetch: typeof fetch
} {
  const post = (url: string, key: string, body: string) => postJson(fetchOption, url, key, body)
  return {
    now: () => performance.now(),
    random: () => Math.random(),
    after,
    fetch: fetchOption,
    open: (url, handlers) => openSocket(new Socket(url), url, handlers, post),
    post,
  }
}

function openSocket(
  socket: WebSocket,
  url: string,
  handlers: SocketHandlers,
  post: ClientRuntime['post'],
): ClientSocket {
  let isOpen = false
  let isDropped = false
  let hasFailed = false
  let hasEnded = false
  const over = (end: SocketEnd) => {
    if (hasEnded) return
    hasEnded = true
    handlers.onEnd(end)
  }
  socket.addEventListener('open', () => {
    isOpen = true
    if (!isDropped) handlers.onOpen()
  })
  socket.addEventListener('message', ({ data }) => {
    if (!isDropped) handlers.onText(String(data))
  })
  const failed = (end: SocketEnd) => {
    if (hasFailed) return
    hasFailed = true
    void refusalOf(url, post).then((refusal) => over(refusal ?? end))
  }
  socket.addEventListener('close', ({ code, reason }) => {
    const end = { status: null, code, reason }
    if (isOpen || isDropped) over(end)
    else failed(end)
  })
  // After a failed connection, Node 22 sends no close event. Without a listener, an error of the package `ws` ends the process.
  socket.addEventListener('error', () => {
    if (!isOpen && !isDropped) failed({ status: null, code: NO_CLOSE_MESSAGE, reason: '' })
  })
  return {
    send: (text) => {
      if (socket.readyState === 1) socket.send(text)
    },
    drop: () => {
      isDropped = true
      socket.close()
      // A dead peer never answers the close message, so end the socket here.
      over({ status: null, code: null, reason: 'dropped' })
    },
  }
}

/** The reason why this key is rejected. Null if it is not rejected or if there is no response. */
async function refusalOf(url: string, post: ClientRuntime['post']): Promise<SocketEnd | null> {
  const { protocol, host, pathname, searchParams } = new URL(url)
  const key = searchParams.get('key')
  if (!key) return null
  const info = `${protocol.replace('ws', 'http')}//${host}${pathname.replace(/ws$/, 'info')}`
  try {
    const { status, text } = await post(info, key, PROBE)
    return REFUSED_STATUSES.includes(status) ? { status, code: null, reason: messageOf(text, status) } : null
  } catch {
    return null
  }
}

/** Sends a JSON body by POST, with the key as bearer token. */
export async function postJson(
  fetchOption: typeof fetch,
  url: string,
  key: string,
  body: string,
): Promise<HttpResponse> {
  const response = await fetchOption(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(POST_TIMEOUT_MS),
  })
  return {
    status: response.status,
    text: await response.text(),
    retryAfterMs: retryAfterOf(response.headers.get('retry-after')),
  }
}
