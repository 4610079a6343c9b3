// What POST /mcp rejects before it starts work. The protocol itself is tested with its own client in
// test/conformance/mcp.test.ts.

import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { err } from '../../../src/core/result.ts'
import { addCommonReplies } from '../../../src/http/common-replies.route.ts'
import { mcpRoutes } from '../../../src/http/mcp/mcp.route.ts'

const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
const ORIGIN = 'https://weir.example'
const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function request(path: string, init: RequestInit = {}) {
  const routes = new Hono()
  addCommonReplies(routes, { requestId: () => 'req_9', report: () => undefined, page: async () => null })
  routes.route(
    '/',
    mcpRoutes({
      authenticate: async () => err({ kind: 'key_missing' }),
      charging: () => ({ hold: async () => err({ kind: 'internal' }) }),
      requestId: () => 'req_9',
      chain: 'hyperliquid',
      surfaces: () => {
        throw new Error('a rejected request reached a surface')
      },
      now: () => 0,
    }),
  )
  return routes.request(`${ORIGIN}${path}`, init, {}, context)
}
const post = (body: string, headers: Record<string, string> = JSON_TYPE) =>
  request('/mcp', { method: 'POST', headers, body })

const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'trades', arguments: { coin: 'BTC' } } }

describe('POST /mcp', () => {
  it.for([
    ['a body over 1 MiB', JSON.stringify({ ...CALL, params: 'x'.repeat(1024 * 1024) }), 413, /1,048,576 bytes/],
    ['a body that is no JSON', '{', 400, /not valid JSON/],
    ['a deep body', '['.repeat(100) + ']'.repeat(100), 400, /deeper/],
    ['21 messages', JSON.stringify(Array(21).fill(CALL)), 400, /at most 20 messages/],
    ['a call without a key', JSON.stringify(CALL), 401, /No API key/],
    ['a call without a key among others', JSON.stringify([{ ...CALL, method: 'ping' }, CALL]), 401, /No API key/],
  ] as const)('rejects %s as JSON-RPC', async ([, body, status, message]) => {
    const reply = await post(body)
    expect(reply.status).toBe(status)
    expect(await reply.json()).toMatchObject({ jsonrpc: '2.0', error: { message: expect.stringMatching(message) } })
  })

  it('rejects another content type', async () => {
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
  })

  it('names its metadata to callers without a key, and echoes the id', async () => {
    const reply = await post(JSON.stringify(CALL))
    const url = `${ORIGIN}/.well-known/oauth-protected-resource/mcp`
    expect(reply.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${url}"`)
    expect(await reply.json()).toMatchObject({ id: 7 })
    const metadata = await request(new URL(url).pathname)
    expect(await metadata.json()).toMatchObject({ resource: `${ORIGIN}/mcp`, bearer_methods_supported: ['header'] })
  })

  it('has no streams of its own, and tells browsers which headers they may send', async () => {
    const get = await request('/mcp')
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    const preflight = await request('/mcp', { method: 'OPTIONS' })
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('does not claim in a header that a call is free', async () => {
    const lists = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
    expect(lists.status).toBe(200)
    expect(lists.headers.get('x-credits-cost')).toBeNull()
    await lists.text()
  })
})
