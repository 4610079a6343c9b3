// Cloudflare's API as it is in the worst case, over HTTP.

import { afterEach, expect, it } from 'vitest'
import { CloudflareApi } from '../../../src/cli/deploy/cloudflare-api.node.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'

const servers: HttpServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** An API that answers with this, and the paths that were requested. */
async function apiOf(reply: (url: URL) => Reply, headers: Readonly<Record<string, string>> = {}) {
  const paths: string[] = []
  const server = await startServer((request, response) => {
    paths.push(`${request.method} ${request.url}`)
    const { status = 200, headers: sent = {}, body } = reply(new URL(request.url ?? '', 'http://api'))
    response.writeHead(status, sent).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  servers.push(server)
  return { api: new CloudflareApi(headers, server.url), paths, url: server.url }
}

const all = Array.from({ length: 120 }, (_, at) => ({ uuid: `id-${at}`, name: `database-${at}` }))

it.each([
  ['as long as requested', 50, true],
  ['shorter than requested', 20, true],
  ['as long as requested, without a total', 50, false],
])('reads lists whose pages are %s', async (_, longest, hasTotal) => {
  const { api } = await apiOf(({ searchParams }) => {
    const size = Math.min(longest, Number(searchParams.get('per_page')))
    const from = (Number(searchParams.get('page')) - 1) * size
    const info = hasTotal ? { result_info: { total_count: all.length } } : {}
    return { body: { success: true, errors: [], result: all.slice(from, from + size), ...info } }
  })
  expect((await api.databases('a')).size).toBe(all.length)
})

it('ends a list of which every page is the same', async () => {
  const result = all.slice(0, 50)
  const { api, paths } = await apiOf(() => ({ body: { success: true, result, result_info: { total_count: 1_000 } } }))
  expect((await api.databases('a')).size).toBe(50)
  expect(paths).toHaveLength(2)
})

it.each([401, 403])('says which rights a login needs, for every request that is refused with %i', async (status) => {
  const errors = [{ code: 10_000, message: 'Authentication error' }]
  const { api } = await apiOf(() => ({ status, body: { success: false, errors, result: null } }))
  const store = { kind: 'KV', binding: 'KEYS', name: 'weir-keys', setting: 'keys', id: undefined } as const
  const refused = /^The login was refused: Authentication error \(code 10000\)\. Run "npx wrangler login", or set/
  await expect(api.accounts()).rejects.toThrow(refused)
  await expect(api.bucket('a', 'b')).rejects.toThrow(refused)
  await expect(api.secretNames('a', 'weir')).rejects.toThrow(refused)
  await expect(api.query('a', 'id', 'SELECT 1')).rejects.toThrow(refused)
  await expect(api.create('a', store, null)).rejects.toThrow(refused)
})

it('says how to turn on R2, which is refused with 403 while it is off', async () => {
  const errors = [{ code: 10_042, message: 'Please enable R2' }]
  const { api } = await apiOf(() => ({ status: 403, body: { success: false, errors, result: null } }))
  await expect(api.bucket('a', 'b')).rejects.toThrow('Turn on R2 at https://dash.cloudflare.com/a/r2')
})

it.each([
  ['no reason', { success: false, errors: [], result: null }, "Cloudflare's API answered 500 without a reason."],
  ['a page of HTML', '<html>', "Cloudflare's API answered 500."],
  ['control characters', { success: false, errors: [{ code: 1, message: 'a\u001b[2J' }], result: null }, 'a'],
])('names the failure if the API answers with %s', async (_, body, text) => {
  const { api } = await apiOf(() => ({ status: 500, body }))
  const failure = await api.databases('a').catch(({ message }: Error) => message)
  expect(failure).toContain(text)
  expect(failure).toContain('run the same command again')
  expect(failure).not.toContain('\u001b')
})

it('does not send its login to another host', async () => {
  const other = await apiOf(() => ({ body: { success: true, errors: [], result: [] } }))
  const location = `${other.url}/stolen`
  const { api } = await apiOf(() => ({ status: 307, headers: { location }, body: '' }), { 'x-auth-key': 'k' })
  await expect(api.accounts()).rejects.toThrow("Cloudflare's API did not answer")
  expect(other.paths).toEqual([])
})
