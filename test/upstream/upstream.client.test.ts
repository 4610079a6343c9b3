import type { RequestListener } from 'node:http'
import { afterEach, expect, it, vi } from 'vitest'
import { parseSources } from '../../src/upstream/sources.ts'
import { fetchUpstream } from '../../src/upstream/upstream.client.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'

const SECRETS = { SOURCE_ID: 'id.access', SOURCE_TOKEN: ' s3cret\n', SOURCE_BLANK: '  ', SOURCE_LINES: 'a\nb' }
let server: HttpServer | undefined
afterEach(() => server?.close())

/** An upstream over one real scripted server. */
async function over(listener: RequestListener, timeoutMs = 10_000, headers?: Record<string, string>) {
  server = await startServer(listener)
  // Without the type that clocks are read by: the test's responses are for its own requests.
  const source = { name: 'stub', url: `${server.url}/info`, types: ['meta'], timeoutMs, headers }
  const sources = parseSources(JSON.stringify([source]))
  if (!sources.ok) throw new Error(sources.error)
  const noBudget = () => {
    throw new Error('creates no budget object for a source without a budget')
  }
  return fetchUpstream(sources.value, {
    budgetOf: noBudget,
    waitUntil: () => {},
    secrets: SECRETS,
    exampleOf: () => undefined,
  })
}

it('posts JSON and returns the bytes unchanged', async () => {
  let seen = ''
  const upstream = await over((request, response) => {
    seen = `${request.method} ${request.url} ${request.headers['content-type']}`
    request.pipe(response)
  })
  const body = '{"px": "1.50", "name":"é\\u0000"}'
  expect(await upstream.request('meta', body)).toEqual({ ok: true, value: { text: body } })
  expect(seen).toBe('POST /info application/json')
})

it('sends the secrets of a source to that source only', async () => {
  const seen: unknown[] = []
  const upstream = await over(
    ({ headers }, response) => {
      seen.push([headers['cf-access-client-id'], headers.authorization, headers['content-type']])
      response.writeHead(302, { location: '/other' }).end()
    },
    10_000,
    { 'CF-Access-Client-Id': 'SOURCE_ID', Authorization: 'SOURCE_TOKEN' },
  )
  await upstream.request('meta', '{}')
  // A redirect is not followed, so no other host receives them.
  expect(new Set(seen.map(String))).toEqual(new Set(['id.access,s3cret,application/json']))
})

it.each(['SOURCE_MISSING', 'SOURCE_BLANK', 'SOURCE_LINES'])(
  'sends nothing without a usable secret: %s',
  async (name) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    let requests = 0
    const upstream = await over((_, response) => response.end(String(requests++)), 10_000, { Authorization: name })
    expect(await upstream.request('meta', '{}')).toMatchObject({ ok: false })
    expect(requests).toBe(0)
    expect(logged.mock.calls).toEqual([[expect.stringContaining(name)]])
    logged.mockRestore()
  },
)

it('ends a silent request with a timeout', async () => {
  const upstream = await over(() => {}, 50)
  expect(await upstream.request('meta', '{}')).toEqual({
    ok: false,
    error: { kind: 'upstream_timeout', source: 'stub' },
  })
})

it('ends an endless body with a timeout', async () => {
  const upstream = await over((_, response) => response.write('{"a":'), 50)
  expect(await upstream.request('meta', '{}')).toEqual({
    ok: false,
    error: { kind: 'upstream_timeout', source: 'stub' },
  })
})

it.each<[string, RequestListener]>([
  [
    'a body that was cut',
    (_, response) => response.writeHead(200, { 'content-length': 100 }).write('{}', () => response.destroy()),
  ],
  ['bytes that are not UTF-8', (_, response) => response.end(Buffer.from([0x22, 0xff, 0x22]))],
  ['a body over 8 MiB', (_, response) => response.end(`"${'x'.repeat(9 * 1024 * 1024)}"`)],
  ['a redirect', (_, response) => response.writeHead(302, { location: '/other' }).end()],
])('calls %s a failure of the source', async (_, listener) => {
  const upstream = await over(listener)
  expect(await upstream.request('meta', '{}')).toEqual({
    ok: false,
    error: { kind: 'upstream_failed', source: 'stub' },
  })
})
