// The baselines: the minimum work that the platform needs for the same traffic, in a separate workerd behind the
// same kind of socket. One is a Worker that echoes JSON, returns a given response with all its headers, reads and
// writes the headers of a key and a response, or sends a request to an upstream. The other is a Durable Object that
// sends each line of its input to every client of that line. A client that connected without a line joins the first
// line when it sends a request.

import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'

const SCRIPT = `
import { DurableObject } from 'cloudflare:workers'

export class Broadcast extends DurableObject {
  feeder = this.ctx.getWebSockets('feed')[0]
  lines = [0, 1, 2].map((line) => new Set(this.ctx.getWebSockets('line' + line)))

  fetch(request) {
    const { 0: client, 1: server } = new WebSocketPair()
    const [, of, line] = new URL(request.url).pathname.split('/')
    this.ctx.acceptWebSocket(server, [of === 'feed' ? of : 'line' + line])
    if (of === 'feed') this.feeder = server
    else if (line) this.lines[line].add(server)
    return new Response(null, { status: 101, webSocket: client })
  }
  webSocketMessage(socket, message) {
    if (socket !== this.feeder) {
      this.lines[0].add(socket)
      return socket.send('{"channel":"subscriptionResponse","data":' + message + '}')
    }
    const texts = message.split('\\n')
    for (let line = 0; line < texts.length; line++)
      if (texts[line]) for (const client of this.lines[line]) client.send(texts[line])
  }
  webSocketClose(socket, code) {
    for (const line of this.lines) line.delete(socket)
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code)
  }
}

let shown = { answer: '', headers: {}, upstream: '' }

/** What nobody who takes keys can do without: the headers that say who asks and how, and those of this one answer. */
async function keyed(request) {
  const { headers } = request
  const asked = headers.get('authorization') + headers.get('content-type') + headers.get('content-length')
  const more = headers.has('origin') ? { 'access-control-allow-origin': '*' } : {}
  await request.text()
  const id = 'req_' + asked.length + Math.random().toString(36)
  return new Response(shown.answer, { headers: { ...shown.headers, ...more, 'x-request-id': id } })
}

export default {
  async fetch(request, env) {
    if (request.method === 'PUT') {
      shown = { ...shown, ...(await request.json()) }
      return new Response(null, { status: 204 })
    }
    if (request.method === 'POST') {
      if (request.url.endsWith('/echo')) return Response.json(await request.json())
      if (request.url.endsWith('/proxy')) return fetch(new Request(shown.upstream, request))
      if (request.url.endsWith('/keyed')) return keyed(request)
      await request.text()
      return new Response(shown.answer, { headers: shown.headers })
    }
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

/** Of the platform's HTTP, not of a Worker's answer. */
const OF_HTTP = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/** Has the Worker at `port` answer `/same` as Weir answered `reply`: the same body with the same headers. */
export async function showAnswer(port: number, reply: Response): Promise<void> {
  if (reply.status !== 200) throw new Error(`an answer to be shown was ${reply.status} ${await reply.text()}`)
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !OF_HTTP.includes(name)))
  await show(port, { answer: await reply.text(), headers })
}

/** Has the Worker at `port` ask `upstream` for whatever `/proxy` is asked. */
export async function showUpstream(port: number, upstream: string): Promise<void> {
  await show(port, { upstream })
}

async function show(port: number, what: object): Promise<void> {
  const { ok } = await fetch(`http://127.0.0.1:${port}/`, { method: 'PUT', body: JSON.stringify(what) })
  if (!ok) throw new Error('the bare Worker cannot be shown anything')
}
