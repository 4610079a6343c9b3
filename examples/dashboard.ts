// Serves dashboard.html and issues stream tokens to it, so that the key stays on this server. Pages of other sites get no
// token, because only requests to the server's own name are answered.
// Run with WEIR_URL and WEIR_KEY set, then open the printed address: npx node examples/dashboard.ts BTC ETH SOL

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const USAGE = `Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/dashboard.ts COIN… [--port 9100]
  COIN…  up to six coins. A page costs two credits a minute per coin, and 1.5 for the book and the trades of one`
/** A socket with a token may have 16 subscriptions: two per coin, and two for the coin that is shown. */
const MAX_COINS = 6
const CHANNELS = ['bbo', 'activeAssetCtx', 'l2Book', 'trades']

/** Null if the arguments are invalid. */
function settingsOf(args: string[]): { coins: string[]; port: number } | null {
  try {
    const options = { port: { type: 'string', default: '9100' } } as const
    const { values, positionals: coins } = parseArgs({ args, options, allowPositionals: true })
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port: use a number up to 65535')
    return coins.length > 0 && coins.length <= MAX_COINS ? { coins: [...new Set(coins)], port } : null
  } catch (error) {
    console.error((error as Error).message)
    return null
  }
}

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const settings = settingsOf(process.argv.slice(2))
if (!url || !key || !settings) {
  console.error(USAGE)
  process.exit(2)
}
const { coins, port } = settings

/** The reply has the gateway's time, so the page can show the age of data even if its own clock is wrong. */
async function createToken(): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ coins, channels: CHANNELS, minutes: 15 })
  const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) }
  const response = await fetch(`${url}/platform/stream-tokens`, request)
  const { data, error_message: problem } = (await response.json()) as {
    data?: { token: string; time: number }
    error_message?: string
  }
  if (!data) throw new Error(problem ?? `HTTP ${response.status}`)
  return JSON.stringify({ url, coins, token: data.token, time: data.time })
}

/** Returns the content type and the content of a path. Null if there is no such file. */
async function contentOf(path: string): Promise<[type: string, body: string | Buffer] | null> {
  if (path === '/') return ['text/html', await readFile(join(import.meta.dirname, 'dashboard.html'))]
  return path === '/token' ? ['application/json', await createToken()] : null
}

const server = createServer((request, response) => {
  const { port: own } = server.address() as AddressInfo
  const isOwnName = [`127.0.0.1:${own}`, `localhost:${own}`].includes(request.headers.host ?? '')
  if (!isOwnName) return response.writeHead(403).end()
  response.setHeader('cache-control', 'no-store')
  contentOf(request.url ?? '/').then(
    (found) => (found ? response.setHeader('content-type', found[0]).end(found[1]) : response.writeHead(404).end()),
    (error: Error) => response.writeHead(502).end(error.message),
  )
})
server.on('error', (error) => {
  console.error(`${error.message}. Choose another --port`)
  process.exitCode = 1
})
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    server.close()
    server.closeAllConnections()
  })
