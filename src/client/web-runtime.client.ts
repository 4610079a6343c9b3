// The client's world where WebSocket and fetch are globals: browsers, Workers, and Node without `ws`.
// A browser hides the status of a refused upgrade, so a bad key looks like any failed connect there.

import type { ClientRuntime } from './runtime.ts'

const POST_TIMEOUT_MS = 5_000

/** Runtime over the globals; `Socket` may be another constructor of the same shape. */
export function webRuntime(Socket: typeof WebSocket = WebSocket): ClientRuntime {
  return {
    now: () => Date.now(),
    random: () => Math.random(),
    after(ms, run) {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    open(url, handlers) {
      const socket = new Socket(url)
      socket.addEventListener('open', () => handlers.opened())
      socket.addEventListener('message', (event) => handlers.text(String(event.data)))
      socket.addEventListener('close', (event) =>
        handlers.ended({ status: null, code: event.code, reason: event.reason }),
      )
      return { send: (text) => socket.send(text), drop: () => socket.close() }
    },
    async post(url, key, body) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(POST_TIMEOUT_MS),
      })
      const retryAfter = Number(answer.headers.get('retry-after'))
      return {
        status: answer.status,
        text: await answer.text(),
        retryAfterMs: retryAfter > 0 ? retryAfter * 1_000 : null,
      }
    },
  }
}
