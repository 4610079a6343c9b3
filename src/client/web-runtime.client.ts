// The client's world on whatever has global `WebSocket` and `fetch`: browsers, Workers, Deno, Bun, Node from 22 on. They hide
// with which status an upgrade was refused: the same key gets the same refusal by HTTP, which costs nothing.

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
/** Of a type that stream tokens may ask, without its coin: refused for that, free of charge, where the key is taken. */
const PROBE = '{"type":"l2BookDiffSnapshot"}'
/** No retry mends these. */
const REFUSED_STATUSES = [401, 402, 403]

/** What may stand in the place of the platform's own. */
export interface WebGlobals {
  readonly WebSocket?: new (url: string) => WebSocket
  readonly fetch?: typeof fetch
}

/** Runtime over global WebSocket, fetch and timers, or those that are given. */
export function webRuntime({
  WebSocket: Socket = globalThis.WebSocket,
  fetch: ask = fetch,
}: WebGlobals = {}): ClientRuntime & {
  readonly fetch: typeof fetch
} {
  const post = (url: string, key: string, body: string) => postJson(ask, url, key, body)
  return {
    now: () => performance.now(),
    random: () => Math.random(),
    after,
    fetch: ask,
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
  let isOver = false
  const over = (end: SocketEnd) => {
    if (isOver) return
    isOver = true
    handlers.onEnd(end)
  }
  socket.addEventListener('open', () => {
    isOpen = true
    if (!isDropped) handlers.onOpen()
  })
  socket.addEventListener('message', ({ data }) => {
    if (!isDropped) handlers.onText(String(data))
  })
  socket.addEventListener('close', ({ code, reason }) => {
    if (isOpen || isDropped) over({ status: null, code, reason })
    else void refusalOf(url, post).then((refusal) => over(refusal ?? { status: null, code, reason }))
  })
  return {
    send: (text) => {
      if (socket.readyState === 1) socket.send(text)
    },
    drop: () => {
      isDropped = true
      socket.close()
      // A peer that is gone answers no close.
      over({ status: null, code: null, reason: 'dropped' })
    },
  }
}

/** Why this key is refused; null where it is not, or nobody answers. */
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

/** POST of a JSON body with the key as bearer. */
export async function postJson(ask: typeof fetch, url: string, key: string, body: string): Promise<HttpResponse> {
  const answer = await ask(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(POST_TIMEOUT_MS),
  })
  return {
    status: answer.status,
    text: await answer.text(),
    retryAfterMs: retryAfterOf(answer.headers.get('retry-after')),
  }
}
