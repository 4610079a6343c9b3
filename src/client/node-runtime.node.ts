// The client runtime for Node. It uses `ws`, which reports the HTTP status of a rejected upgrade. The global WebSocket
// hides this status.

import { WebSocket } from 'ws'
import { after } from '../core/timers.client.ts'
import type { ClientRuntime, ClientSocket, SocketHandlers } from './runtime.ts'
import { messageOf } from './snapshot-request.ts'
import { postJson } from './web-runtime.client.ts'

/** Maximum size of a frame. The frame with all BTC orders is 17 MB; all other frames are much smaller. */
const FRAME_MAX_BYTES = 32 * 1024 * 1024

/** Creates a runtime with `ws` and the global fetch and timers. Tests replace `Socket`. */
export function nodeRuntime(Socket: typeof WebSocket = WebSocket): ClientRuntime {
  return {
    now: () => performance.now(),
    random: () => Math.random(),
    after,
    open: (url, handlers) => openSocket(new Socket(url, socketOptions), handlers),
    post: (url, key, body) => postJson(fetch, url, key, body),
  }
}

const socketOptions = { perMessageDeflate: false, maxPayload: FRAME_MAX_BYTES }

function openSocket(socket: WebSocket, handlers: SocketHandlers): ClientSocket {
  let ended = false
  const end = (status: number | null, code: number | null, reason: string) => {
    if (ended) return
    ended = true
    handlers.onEnd({ status, code, reason })
  }
  socket.on('open', () => handlers.onOpen())
  socket.on('message', (data) => handlers.onText(data.toString()))
  socket.on('close', (code, reason) => end(null, code, reason.toString()))
  socket.on('error', (error) => end(null, null, error.message))
  socket.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      if (body.length < 4_096) body += chunk
    })
    response.on('close', () => {
      end(status, null, messageOf(body, status))
      socket.terminate()
    })
  })
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    drop: () => socket.terminate(),
  }
}
