// The browser as the page's link sees it: sockets, timers, and a clock that nobody can set.

import type { LinkRuntime } from './link.ts'

/** Unix ms at the time when the page was opened, by the visitor's clock, and as steady as time itself from then on. */
export const pageNow = () => performance.timeOrigin + performance.now()

export const browserRuntime: LinkRuntime = {
  now: pageNow,
  random: Math.random,
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  open: (url, { opened, text, ended }) => {
    const socket = new WebSocket(url)
    const leave = new AbortController()
    const { signal } = leave
    socket.addEventListener('open', () => opened(), { signal })
    socket.addEventListener('message', ({ data }) => text(String(data)), { signal })
    socket.addEventListener(
      'close',
      ({ code, reason }) => {
        leave.abort()
        ended({ status: null, code, reason })
      },
      { signal },
    )
    return {
      send: (frame) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(frame)
      },
      drop: () => {
        leave.abort()
        socket.close()
      },
    }
  },
}
