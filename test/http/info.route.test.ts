// POST /info with a fake service. Content types, limits, methods and browsers are tested over real HTTP in
// test/conformance/contract.test.ts and edge.test.ts.

import { Hono } from 'hono'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Identity } from '../../src/accounts/identity.ts'
import type { Failure } from '../../src/core/failure.ts'
import { err, ok, type Result } from '../../src/core/result.ts'
import { addCommonReplies } from '../../src/http/common-replies.route.ts'
import { infoRoutes } from '../../src/http/info.route.ts'
import type { Access } from '../../src/http/metered.route.ts'
import type { CallResult, Charging } from '../../src/metering/charging.ts'
import { createWorld, IDENTITY, UPSTREAM_ANSWERS } from '../info/answer/service-world.ts'

const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
let logged: CallResult[]
const CHARGING: Charging = {
  hold: async () => ok({ settle: () => 5_500_000, release: () => 6_500_000 }),
  log: (_, result) => void logged.push(result),
}
let paths: (string | undefined)[]
let identity: Result<Identity, Failure>

beforeEach(() => {
  paths = []
  logged = []
  identity = ok(IDENTITY)
})

function app(pathKeys = true) {
  const { service } = createWorld()
  const access: Access = {
    authenticate: async (_request, { path }) => {
      paths.push(path)
      return identity
    },
    charging: () => CHARGING,
    requestId: () => 'req_9',
  }
  const routes = new Hono()
  addCommonReplies(routes, { requestId: access.requestId, report: () => undefined, page: async () => null })
  return routes.route('/', infoRoutes(service, access, { pathKeys }))
}

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (body: RequestInit['body'], headers: Record<string, string> = JSON_TYPE, path = '/info', routes = app()) =>
  routes.request(path, { method: 'POST', headers, body, duplex: 'half' } as RequestInit, {}, context as never)

describe('POST /info', () => {
  it('returns the headers of a metered response', async () => {
    const response = await post('{"type":"meta"}')
    expect([response.status, await response.text()]).toEqual([200, UPSTREAM_ANSWERS.meta])
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/json',
      'x-request-id': 'req_9',
      'x-credits-cost': '1',
      'x-credits-remaining': '5.5',
    })
    expect(paths).toEqual([undefined])
  })

  it('logs each call of a key with its type, its charge and the status of its reply', async () => {
    const bodies = ['{"type":"meta"}', '{"type":"l2Book"}', '{"type":"no\u202eSuch"}', 'nonsense']
    const statuses = await Promise.all(bodies.map(async (body) => (await post(body)).status))
    identity = err({ kind: 'key_missing' })
    await post('{"type":"meta"}')
    const call = { product: 'info', code: '', micro: 0, requestId: 'req_9' }
    expect(logged.sort((a, b) => a.status - b.status || a.type.localeCompare(b.type))).toEqual([
      { ...call, type: 'meta', status: statuses[0], micro: 1_000_000 },
      { ...call, type: '', status: statuses[3], code: 'invalid_json' },
      { ...call, type: 'no\\u202eSuch', status: statuses[2], code: 'unsupported_type' },
      { ...call, type: 'l2Book', status: statuses[1], code: 'invalid_request' },
    ])
  })

  it('accepts a key in the path if enabled', async () => {
    const on = await post('{"type":"meta"}', JSON_TYPE, '/k/cqt_x/info')
    expect([on.status, paths]).toEqual([200, ['cqt_x']])
    expect((await post('{"type":"meta"}', JSON_TYPE, '/k/cqt_x/info', app(false))).status).toBe(404)
  })

  it('rejects a missing key before reading the body', async () => {
    identity = err({ kind: 'key_missing' })
    const response = await post('nonsense', {})
    expect([response.status, response.headers.get('content-type')]).toEqual([401, 'application/json'])
    expect(await response.json()).toMatchObject({ code: 'unauthorized', request_id: 'req_9' })
  })

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=y'])(
    'takes %s',
    async (type) => {
      expect((await post('{"type":"meta"}', { 'content-type': type })).status).toBe(200)
    },
  )

  it('reports the remaining credits with a rejection', async () => {
    const response = await post('{"type":"meta"}', { 'content-type': 'text/plain' })
    expect([response.status, response.headers.get('x-credits-remaining')]).toEqual([415, '6.5'])
  })

  it('accepts a streamed body at the size limit', async () => {
    const body = new Blob([`{"type":"meta","x":"${'x'.repeat(65_000)}"}`]).stream()
    expect((await post(body as unknown as RequestInit['body'])).status).toBe(200)
  })
})
