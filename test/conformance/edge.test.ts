// Common properties of all replies over real HTTP: each route with each method, and every kind of invalid input.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fieldsOf } from '../../scripts/field-table.ts'
import { StatusShape } from '../../src/protocol/feed/status-shape.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'
import { Feeder } from '../kit/feeder.ts'
import { ADMIN_TOKEN, FEED_TOKEN, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { Socket } from '../kit/socket.ts'

const LONG_ANSWER = JSON.stringify({ tokens: Array.from({ length: 5_000 }, (_, index) => ({ index })), universe: [] })

const METRICS_TOKEN = 'metrics-token-of-the-tests-of-weir-1'
const CHALLENGED = {
  SIGNUP: 'log',
  SIGNUP_TURNSTILE_SECRET: 'secret-of-the-widget',
  SIGNUP_SETTINGS: '{"turnstileSiteKey":"0x4AAAAAAAsitekey"}',
}
let world: World
let upstream: HttpServer
/** What the upstream was asked, in order. */
const sent: string[] = []
let key: string

beforeAll(async () => {
  upstream = await startServer(async (request, response) => {
    const body = await text(request)
    sent.push(body)
    // An unknown dex or coin is answered in this way by the public server.
    if (/nope/i.test(body)) response.writeHead(500).end('null')
    else if (body.includes('userRole')) response.writeHead(500).end()
    else if (body.includes('spotMeta')) response.end(LONG_ANSWER)
    else response.setHeader('content-type', 'application/json').end('{"universe":[],"marginTables":[]}')
  })
  const sources = [{ name: 'node', url: `${upstream.url.replace('//', '//user:hidden@')}/info`, budget: 1e6 }]
  const chains = [{ name: 'evm', urls: [`${upstream.url}/hidden`] }]
  const asked = { UPSTREAMS: JSON.stringify(sources), RPC_CHAINS: JSON.stringify(chains) }
  world = await startWorld({ vars: { TRUST_PROXY: 'on', METRICS_TOKEN, ...asked, ...CHALLENGED } })
  key = await world.newKey('1000', { plan: 'professional' })
})
afterAll(async () => {
  await world?.stop()
  upstream?.close()
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('every route with every method', () => {
  type Form = 'info' | 'rest' | 'rpc'
  const PUBLIC = ['/', '/status', '/openapi.json', '/openapi/info/meta.json', '/graphql/schema.graphql'] as const
  const DATA = ['/v1/hyperliquid/history/cost', '/v1/hyperliquid/history/files/archive/x.gz'] as const
  const KEYED = ['/platform/usage', '/platform/usage/', '/platform/key', '/platform/key/', ...DATA] as const
  const ROUTES: readonly (readonly [path: string, methods: readonly string[], form: Form])[] = [
    ...PUBLIC.map((path) => [path, ['GET', 'HEAD'], 'rest'] as const),
    ...KEYED.map((path) => [path, ['GET', 'HEAD'], 'rest'] as const),
    ['/info', ['POST'], 'info'],
    ['/k/KEY/info', ['POST'], 'info'],
    ['/v1/hyperliquid', ['POST'], 'rpc'],
    ['/ws', ['GET', 'HEAD'], 'info'],
    ['/k/KEY/ws', ['GET', 'HEAD'], 'info'],
    ['/feed', ['GET', 'HEAD'], 'rest'],
    ['/metrics', ['GET', 'HEAD'], 'rest'],
    ['/platform/pipeline-api/', ['GET', 'HEAD', 'POST'], 'rest'],
    ['/platform/pipeline-api/pipe_x', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'], 'rest'],
    ['/admin/keys', ['GET', 'HEAD', 'POST'], 'rest'],
    ['/admin/feed/reset', ['POST'], 'rest'],
  ]
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
  const closed = (path: string) => /^\/(admin|feed|metrics)/.test(path)
  const cases = ROUTES.flatMap(([path, methods, form]) => METHODS.map((method) => ({ method, path, methods, form })))

  it.each(cases)('$method $path', async ({ method, path, methods, form }) => {
    // Nothing here may change anything: a known method gets a body that is refused.
    const answer = await fetch(world.url + path.replace('KEY', key), {
      method,
      headers: {
        origin: 'https://page.example',
        'content-type': 'application/json',
        ...bearer(path.startsWith('/admin') ? (methods.includes(method) ? 'no' : ADMIN_TOKEN) : key),
        ...(path === '/feed' ? bearer(FEED_TOKEN) : {}),
        ...(path === '/metrics' ? bearer(METRICS_TOKEN) : {}),
      },
      ...(method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? {} : { body: '[]' }),
    })
    const body = await answer.text()
    expect(answer.headers.get('x-request-id')).toMatch(/^req_\w{16}$/)
    expect(answer.headers.get('access-control-allow-origin')).toBe(closed(path) ? null : '*')
    expect(answer.headers.get('x-credits-cost')).toBe(closed(path) ? null : '0')
    if (method === 'OPTIONS' && !closed(path)) {
      expect(answer.status).toBe(204)
      expect(answer.headers.get('access-control-allow-methods')).toBe([...methods, 'OPTIONS'].join(', '))
      expect(answer.headers.get('access-control-allow-headers')).toMatch(
        /^authorization, content-type, payment-signature/,
      )
      return
    }
    if (!closed(path)) {
      const exposed = answer.headers.get('access-control-expose-headers')
      for (const name of ['x-request-id', 'x-credits-remaining', 'ratelimit', 'retry-after', 'age', 'x-block-height'])
        expect(exposed).toContain(name)
    }
    const isOffered = methods.includes(method)
    const offered = [...methods, ...(closed(path) ? [] : ['OPTIONS'])].join(', ')
    expect([answer.status === 405, answer.headers.get('allow')]).toEqual(isOffered ? [false, null] : [true, offered])
    if (answer.status < 400) return
    expect(answer.headers.get('content-type')).toBe('application/json')
    if (method === 'HEAD') return
    const error = JSON.parse(body) as Record<string, unknown>
    if (form === 'rest') {
      const message = expect.any(String)
      expect(error).toEqual({ error: true, error_message: message, error_code: String(answer.status) })
    } else if (form === 'rpc') expect(error).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } })
    else expect(error).toMatchObject({ code: error.error, request_id: answer.headers.get('x-request-id') })
  })

  it.each(['/nothing', '/k/x/nothing', '/infos', '/admin/nothing'])('GET %s is not found', async (path) => {
    const answer = await fetch(world.url + path, { headers: bearer(ADMIN_TOKEN) })
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([404, expect.stringMatching(/^req_/)])
    expect(await answer.json()).toMatchObject(
      path.startsWith('/k/') ? { code: 'not_found', msg: expect.any(String) } : { error: true, error_code: '404' },
    )
  })

  it.each([
    ['TRACE', '/info', 405],
    ['QUERY', '/platform/key/', 405],
    ['PROPFIND', '/nothing', 404],
  ] as const)('%s %s is rejected in JSON with a link to the docs', async (method, path, status) => {
    const [answer] = (await once(httpRequest(world.url + path, { method }).end(), 'response')) as [IncomingMessage]
    const body = await text(answer)
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([status, 'application/json'])
    expect(JSON.parse(body)).toMatchObject({ error: expect.anything() })
    expect(body).toContain('GET /docs')
  })

  it('handles a preflight of an unknown endpoint like any request', async () => {
    expect((await fetch(`${world.url}/nothing`, { method: 'OPTIONS' })).status).toBe(404)
  })
})

describe('bad input', () => {
  const candles = (coin: string) => ({
    type: 'candleSnapshot',
    req: { coin, interval: '1m', startTime: 1, endTime: 2 },
  })

  it('with unknown fields and prototype keys changes no request', async () => {
    const caller = await world.newKey('5')
    const odd =
      '{"__proto__":{"dex":"x"},"constructor":{"prototype":{"dex":"y"}},"type":"nope","type":"meta","dex":null}'
    expect((await world.info(caller, odd)).status).toBe(200)
    expect(sent.at(-1)).toBe('{"type":"meta"}')
    expect(await (await world.info(caller, { type: 'nope' })).json()).toMatchObject({ type: 'nope' })
  })

  it('that only the exchange can validate names its field', async () => {
    const caller = await world.newKey('5')
    for (const [body, says] of [
      [{ type: 'meta', dex: 'nope' }, 'dex: '],
      [candles('NOPE'), 'req.coin: '],
    ] as const) {
      const answer = await world.info(caller, body)
      expect([answer.status, answer.headers.get('x-credits-cost')]).toEqual([422, '0'])
      expect(((await answer.json()) as { msg: string }).msg.startsWith(says)).toBe(true)
    }
  })
})

describe('a long response', () => {
  const raw = (path: string, acceptEncoding: string) =>
    new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const call = path.endsWith('/info') ? JSON.stringify({ type: 'spotMeta' }) : null
      const headers = { ...bearer(key), 'content-type': 'application/json', 'accept-encoding': acceptEncoding }
      const request = httpRequest(world.url + path, { method: call ? 'POST' : 'GET', headers }, async (response) =>
        resolve({ headers: response.headers, body: await buffer(response) }),
      )
      request.once('error', reject).end(call)
    })

  it.each(['/info', '/k/KEY/info', '/openapi.json'])('of %s is short for who takes it', async (path) => {
    const plain = await raw(path.replace('KEY', key), 'identity')
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'accept-encoding'])
    expect(plain.body.toString()).toEqual(path.endsWith('/info') ? LONG_ANSWER : expect.stringContaining('Weir'))
    for (const [encoding, read] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const short = await raw(path.replace('KEY', key), encoding)
      expect([short.headers['content-encoding'], short.headers.vary]).toEqual([encoding, 'accept-encoding'])
      expect(short.headers['x-request-id']).toMatch(/^req_/)
      expect(short.body.length).toBeLessThan(plain.body.length / 3)
      expect(read(short.body).equals(plain.body)).toBe(true)
    }
  })
})

it('the documentation is static: pages with the common policy, Markdown, and 404 for typos', async () => {
  const page = await fetch(`${world.url}/docs/info/l2Book`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'/,
  )
  expect(await page.text()).toContain('<h1 id="l2book">l2Book</h1>')
  for (const path of ['/docs', '/docs/all', '/docs/get-started'])
    expect([path, (await fetch(world.url + path)).status]).toEqual([path, 200])
  const text = await fetch(`${world.url}/docs/info/l2Book.md`)
  expect([text.status, text.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
  const lost = await fetch(`${world.url}/docs/info/l2Bok`)
  expect([lost.status, await lost.json()]).toEqual([404, expect.objectContaining({ error: true })])
})

it('browsers get pages at the root and at unknown addresses; programs get JSON', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml' }
  const root = await fetch(world.url, { headers })
  expect([root.status, root.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(root.headers.get('permissions-policy')).toContain('camera=()')
  expect(await root.text()).toContain(`curl ${world.url}/info`)
  expect(await (await fetch(world.url)).json()).toMatchObject({ name: 'Weir' })
  for (const path of ['/nope', '/docs/nope', '/platform/nope/']) {
    const page = await fetch(world.url + path, { headers })
    expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('Page not found')
  }
  const map = await (await fetch(`${world.url}/sitemap.xml`)).text()
  expect(map).toContain(`<loc>${world.url}/docs/info/l2Book</loc>`)
  expect(await (await fetch(`${world.url}/robots.txt`)).text()).toContain(`Sitemap: ${world.url}/sitemap.xml`)
  expect((await fetch(`${world.url}/favicon.ico`)).headers.get('content-type')).toMatch(/^image\//)
})

it('only the sign-in page may load the challenge, which is required for a link', async () => {
  const policyOf = async (path: string) => (await fetch(world.url + path)).headers.get('content-security-policy')
  expect(await policyOf('/console')).toMatch(
    /script-src 'self' https:\/\/challenges\.cloudflare\.com; .*; frame-src https:\/\/challenges\.cloudflare\.com$/,
  )
  for (const path of ['/live', '/docs']) expect(await policyOf(path)).not.toContain('cloudflare')
  expect(await (await fetch(`${world.url}/signup`)).json()).toEqual({ by: 'log', turnstile: '0x4AAAAAAAsitekey' })
  const headers = { origin: world.url, 'content-type': 'application/json' }
  const asked = await fetch(`${world.url}/signup`, { method: 'POST', headers, body: '{"email":"a@b.example"}' })
  expect([asked.status, await asked.json()]).toEqual([
    400,
    expect.objectContaining({ error_message: expect.stringMatching(/^challenge: was not solved/) }),
  ])
})

it('the GraphQL schema is the committed file, without a key, with an ETag', async () => {
  const file = readFileSync(join(import.meta.dirname, '../../schemas/graphql/schema.graphql'), 'utf8')
  const path = `${world.url}/graphql/schema.graphql`
  const first = await fetch(path)
  expect(await first.text()).toBe(file)
  const again = await fetch(path, { headers: { 'if-none-match': first.headers.get('etag')! } })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

/** Paths of all fields, as fieldsOf has them; `routes` has a field for each info type. */
function pathsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(one, `${path}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => {
    if (path === 'routes') return pathsIn(one, 'routes.*')
    const own = path === '' ? name : `${path}.${name}`
    return [own, ...pathsIn(one, own)]
  })
}

const PULSE = { type: 'pulse', now: 1, head: 7, time: 490, state: 'sending', ...ZERO_COUNTERS }

/** Rows that come by the minute, or where feeders disagree: `StatusShape` itself is held against them in worker tests. */
const isSeldom = (path: string) => /^(regions|wrongBooks)\[\]|^archive\.(checkpoint|failure|files)\./.test(path)

it('/status has exactly the fields of its schema, and no URLs', async () => {
  const feeder = await Feeder.connect(world.ws)
  await feeder.hello(7, 7)
  feeder.snapshot(7, 490, [])
  feeder.socket.send(PULSE)
  await feeder.acked(7)
  expect((await world.admin('POST', '/feed/reset')).status).toBe(200)
  const again = await Feeder.connect(world.ws)
  await again.hello(7, 7)
  again.socket.send(PULSE)
  await world.info(key, { type: 'userRole', user: `0x${'12'.repeat(20)}` })
  const asked = await world.call('POST', '/v1/evm', key, { jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
  expect(asked.status).toBe(502)
  interface Status {
    readonly feeders: readonly { readonly counters: unknown }[]
    readonly readers: readonly unknown[]
  }
  const looked = async () => {
    const { feeders, readers } = await world.status<Status>()
    return [feeders[0]?.counters, readers.length > 0]
  }
  await expect.poll(looked, { timeout: 30_000, interval: 250 }).toMatchObject([{ misfits: 0 }, true])
  // Only the isolate that called a source knows its failure.
  const found = new Set<string>()
  for (let at = 0; at < world.isolates; at++) {
    const text = await (await fetch(`${world.url}/status`)).text()
    StatusShape.parse(JSON.parse(text))
    for (const path of pathsIn(JSON.parse(text))) found.add(path)
    expect(text).not.toMatch(/:\/\/|hidden|127\.0\.0\.1/)
  }
  expect([...found].filter((path) => !isSeldom(path)).sort()).toEqual(
    fieldsOf(StatusShape)
      .map(({ path }) => path)
      .filter((path) => !isSeldom(path))
      .sort(),
  )
})

/** Of each isolate. */
const LOOKUPS_PER_SECOND = 50

describe('floods', () => {
  const madeUp = (i: number) => `cqt_${String(i).replaceAll('0', 'z').padStart(26, 'F')}`
  it('of invented keys end in 429 and do not block known keys', async () => {
    const from = { 'cf-connecting-ip': '203.0.113.9' }
    const call = { type: 'meta' }
    expect((await world.info(key, call, from)).status).toBe(200)
    let refused: Response | undefined
    // More at once than all isolates look up in a second.
    const count = 150 + LOOKUPS_PER_SECOND * world.isolates
    const sinceMs = performance.now()
    let sent = 0
    for (let round = 0; round < 20 && refused === undefined; round++) {
      const flood = Array.from({ length: count }, (_, i) => world.info(madeUp(round * count + i), call, from))
      const answers = await Promise.all(flood)
      sent += count
      await Promise.all(answers.map((answer) => answer.text()))
      expect(answers.filter(({ status }) => status !== 401 && status !== 429)).toEqual([])
      refused = answers.find(({ status }) => status === 429)
    }
    if (refused === undefined) {
      // This machine is too slow for the limit of so many isolates.
      const seconds = (performance.now() - sinceMs) / 1000
      expect(sent / seconds).toBeLessThan(LOOKUPS_PER_SECOND * world.isolates)
      return
    }
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '1',
      ratelimit: '"look-ups";r=0;t=1',
      'ratelimit-policy': '"look-ups";q=50;w=1',
    })
    expect((await world.info(key, call, from)).status).toBe(200)
  })

  it('of links in e-mails are limited per address, as the REST API is', async () => {
    const answer = await fetch(`${world.url}/alerts/confirm`, { method: 'POST' })
    expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([404, expect.stringContaining('"address"')])
  })

  it('of rejected bodies are limited to 20 per second over HTTP and sockets', async () => {
    const caller = await world.newKey('5')
    const socket = await Socket.open(`${world.ws}/ws?key=${caller}`)
    const began = Date.now()
    let refused = 0
    let answered = 0
    const count = (status: number) => (status === 429 ? refused++ : answered++)
    for (let round = 0; round < 20 && refused === 0; round++) {
      const over = Array.from({ length: 30 * world.isolates }, async () =>
        count((await world.info(caller, { type: 'nope' })).status),
      )
      for (let id = 0; id < 30; id++)
        socket.send({ method: 'post', id, request: { type: 'info', payload: { type: 'nope', round } } })
      for (let id = 0; id < 30; id++) {
        // At most 16 are answered at a time; an error rejects the others.
        const reply = await socket.next(({ channel }) => channel === 'post' || channel === 'error')
        if (reply.channel === 'post') count(JSON.stringify(reply.data).includes('"429: ') ? 429 : 400)
      }
      await Promise.all(over)
    }
    expect(refused).toBeGreaterThan(0)
    expect(answered).toBeLessThanOrEqual(20 * world.isolates * ((Date.now() - began) / 1000 + 1))
    socket.close()
  })
})
