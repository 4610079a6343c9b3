// Serves page.html and the client package to browsers and issues stream tokens to them, so that the key stays on this server.
// Run after `npm run build:client`, with WEIR_URL and WEIR_KEY set: npx node examples/page.ts BTC 9100

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const [coin, port = '9100'] = process.argv.slice(2)
if (!url || !key || !coin) {
  console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/page.ts COIN [PORT]')
  process.exit(1)
}

const PACKAGE = join(import.meta.dirname, '../dist/packages/client')
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function makeToken(): Promise<string> {
  const body = JSON.stringify({ coins: [coin], channels: ['l2BookDiff2'], minutes: 15 })
  const answer = await fetch(`${url}/platform/stream-tokens`, { method: 'POST', headers, body })
  const { data, msg } = (await answer.json()) as { data?: { token: string }; msg?: string }
  if (!data) throw new Error(msg ?? `HTTP ${answer.status}`)
  return JSON.stringify({ url, coin, token: data.token })
}

/** Returns the content type and the content of a path. Null if there is no such file. */
async function answerTo(path: string): Promise<[type: string, body: string | Buffer] | null> {
  if (path === '/') return ['text/html', await readFile(join(import.meta.dirname, 'page.html'))]
  if (path === '/token') return ['application/json', await makeToken()]
  const [, name] = /^\/weir-client\/([\w-]+\.js)$/.exec(path) ?? []
  return name === undefined ? null : ['text/javascript', await readFile(join(PACKAGE, name))]
}

const server = createServer((request, response) => {
  answerTo(request.url ?? '/').then(
    (found) => (found ? response.setHeader('content-type', found[0]).end(found[1]) : response.writeHead(404).end()),
    (error: Error) => response.writeHead(502).end(error.message),
  )
})
server.listen(Number(port), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
)
