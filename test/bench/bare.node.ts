// The baselines: the least that the platform can do for the same traffic, in a workerd of its own behind the same kind
// of socket. A Worker that echoes JSON, and a Durable Object that sends what it is fed to every client.

import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'

const SCRIPT = `
import { DurableObject } from 'cloudflare:workers'

export class Broadcast extends DurableObject {
  clients = new Set(this.ctx.getWebSockets('client'))

  fetch(request) {
    const { 0: client, 1: server } = new WebSocketPair()
    const of = new URL(request.url).pathname === '/feed' ? 'feed' : 'client'
    this.ctx.acceptWebSocket(server, [of])
    if (of === 'client') this.clients.add(server)
    return new Response(null, { status: 101, webSocket: client })
  }
  webSocketMessage(socket, message) {
    for (const client of this.clients) client.send(message)
  }
  webSocketClose(socket, code) {
    this.clients.delete(socket)
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code)
  }
}

export default {
  async fetch(request, env) {
    if (request.method === 'POST') return Response.json(await request.json())
    return env.BROADCAST.getByName('one').fetch(request)
  },
}`

/** Starts the baselines on a free port. */
export async function startBare(): Promise<{ readonly url: string; readonly dispose: () => Promise<void> }> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: 'bare',
          modules: true,
          script: SCRIPT,
          compatibilityDate: '2026-11-01',
          durableObjects: { BROADCAST: { className: 'Broadcast', useSQLite: true } },
          unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        },
      ],
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.WARN),
    }),
  )
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL('bare')
  return { url: url.origin, dispose: () => miniflare.dispose() }
}
