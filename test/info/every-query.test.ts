// Properties of every type in the catalogue, derived from its definition. Requests are the examples of the definitions.
// Each field gets values that its published schema rejects; further values to reject are listed here by field name.

import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { infoRoutes } from '../../src/http/info.route.ts'
import { readCall } from '../../src/info/answer/call.ts'
import { CATALOGUE } from '../../src/info/queries/catalogue.ts'
import { createWorld, DEX_LIST, USER, type World } from './answer/service-world.ts'

const CREDIT = 1_000_000

const NOT_ADDRESSES = [1, '', '0x12', `0X${USER.slice(2)}`, `${USER}0`, `${USER} `]
const NOT_MOMENTS = ['1', -1, 1.5, 1e300, {}]

/** Values that a field of this name must reject, in addition to other types. */
const WRONG: Record<string, readonly unknown[]> = {
  user: NOT_ADDRESSES,
  builder: NOT_ADDRESSES,
  vaultAddress: NOT_ADDRESSES,
  source: NOT_ADDRESSES,
  users: ['', {}, [], [USER, 1], [USER, '0x12'], Array(51).fill(USER)],
  dex: [1, {}, [], true, 'a b', 'x'.repeat(65)],
  coin: [1, '', 'a\tb', 'x'.repeat(65), ['BTC']],
  nSigFigs: [1, 6, 2.5, '5'],
  mantissa: [3, '1'],
  startTime: NOT_MOMENTS,
  endTime: NOT_MOMENTS,
  oid: [-1, 1.5, '7', '0x12', {}],
  id: [-1, 1.5, '50'],
  token: [-1, 1.5, '0'],
  tokenId: ['', '0x12', `0x${'g'.repeat(32)}`, `0x${'6'.repeat(33)}`],
  outcome: [-1, 1.5, '4'],
  venue: ['', 'o', 'OUT', 'venue', 'a1'],
  limit: [0, -1, 1.5, '100', {}],
  rows: [0, -1, 1.5, '10', {}, 31],
  cursor: [1, 'x', 'r-1-1-1-1', 't-1-1', '-1', '1.5', `${'1'.repeat(16)}`, {}],
  side: ['buy', 'b', ''],
  sz: ['', '0', '0.00', '-1', '1e3', ' 1'],
  height: [-1, 1.5, '7'],
}

/** One value per JSON Schema type. */
const VALUES = { string: 'a b', integer: 1, number: 1.5, boolean: true, object: {}, array: [] }

/** Values that the published schema of a field rejects; for required fields also absence and null. */
function wrongOf(field: z.core.JSONSchema.BaseSchema, isRequired: boolean): unknown[] {
  const forms = [field, ...(field.anyOf ?? [])] as z.core.JSONSchema.BaseSchema[]
  const types = forms.flatMap<unknown>(({ type }) => type)
  const others = Object.entries(VALUES).filter(
    ([type]) => !types.includes(type) && !(type === 'integer' && types.includes('number')),
  )
  // No pattern accepts control characters.
  const unprintable = forms.some(({ pattern }) => pattern !== undefined) ? ['\0'] : []
  return [...others.map(([, value]) => value), ...unprintable, ...(isRequired ? [undefined, null] : [])]
}

/** Prices other than one credit; wildcard prices are tested with their types. */
const PRICES: Record<string, number> = {
  positionsByCoin: 10 * CREDIT,
  userCompletedTrades: 10 * CREDIT,
  userCompletedTradesByTime: 10 * CREDIT,
  userPnlSummary: 10 * CREDIT,
}

let world: World
beforeEach(() => {
  world = createWorld()
})

describe.each(CATALOGUE.map((query) => [query.type, query] as const))('%s', (type, query) => {
  const whole = { type, ...query.example.request }
  const example = query.example.request
  const price = PRICES[type] ?? CREDIT
  const fields = z.toJSONSchema(query.request, { io: 'input' })

  it('has an example that matches its schemas', () => {
    query.request.parse(whole)
    query.response().parse(query.example.response)
  })

  it('returns its own response schema at its price, with all headers', async () => {
    const reply = await world.send(whole)
    expect(reply.status).toBe(200)
    query.response().parse(JSON.parse(reply.body))
    expect(world.charged).toEqual([price])
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': 'req_1',
      'x-credits-cost': String(price / CREDIT),
      'x-credits-remaining': String(1_000 - price / CREDIT),
    })
  })

  it('is rejected over HTTP without a valid key, before reading the body or calling a source', async () => {
    for (const kind of ['key_missing', 'key_unknown', 'key_revoked'] as const) {
      const routes = infoRoutes(
        world.service,
        {
          authenticate: async () => ({ ok: false, error: { kind } }),
          charging: () => ({ hold: () => expect.unreachable() }),
          requestId: () => 'req_1',
        },
        { pathKeys: false },
      )
      const reply = await routes.request('/info', { method: 'POST', body: JSON.stringify(whole) })
      expect([kind, reply.status, reply.headers.get('x-credits-cost')]).toEqual([kind, 401, '0'])
      expect(await reply.json()).toMatchObject({ code: 'unauthorized', request_id: 'req_1' })
      expect([world.asked, world.bookCalls, world.charged]).toEqual([[], 0, []])
    }
  })

  it('names a malformed field without charging or calling a source', async () => {
    for (const field of Object.keys(fields.properties ?? {}).filter((name) => name !== 'type')) {
      const schema = fields.properties![field] as z.core.JSONSchema.BaseSchema
      const values = wrongOf(schema, fields.required?.includes(field) === true)
      expect(values.length).toBeGreaterThan(2)
      for (const value of [...values, ...(WRONG[field] ?? [])]) {
        world = createWorld()
        const reply = await world.send({ ...whole, [field]: value })
        expect(reply.status, `${field} = ${JSON.stringify(value)}`).toBe(422)
        expect(JSON.parse(reply.body)).toMatchObject({ error: 'invalid_request', code: 'invalid_request' })
        expect(JSON.parse(reply.body).msg).toMatch(new RegExp(`(^|; )${field}(\\.\\d+)?: `))
        expect(reply.headers['x-credits-cost']).toBe('0')
        expect(reply.headers['x-credits-remaining']).toBe('1000')
        expect([world.charged, world.asked, world.bookCalls]).toEqual([[], [], 0])
      }
    }
  })

  it('accepts or rejects any field value, and charges only for responses', async () => {
    const names = Object.keys(fields.properties ?? {}).filter((name) => name !== 'type')
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(example), null))
    const request = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(request, async (more) => {
        world = createWorld()
        const reply = await world.send(JSON.stringify({ ...more, type }))
        expect([200, 422]).toContain(reply.status)
        expect(world.charged.length).toBe(reply.status === 200 ? 1 : 0)
        // Without the list of DEXes, existence is unknown.
        const askedInVain = reply.status === 422 ? world.asked : []
        expect(askedInVain.filter((asked) => asked !== DEX_LIST)).toEqual([])
        for (const asked of world.asked) expect(readCall(asked)).toMatchObject({ ok: true, value: { key: asked } })
      }),
      { numRuns: 50 },
    )
  })

  it('is rejected without credits, and never calls an upstream', async () => {
    world.balance = price - 1
    const reply = await world.send(whole)
    expect(reply.status).toBe(402)
    expect(reply.headers).toMatchObject({ 'x-credits-cost': '0', 'x-credits-remaining': String((price - 1) / CREDIT) })
    expect(world.asked).toEqual([])
    await Promise.all(world.work)
    expect([world.charged, world.balance]).toEqual([[], price - 1])
  })

  it('charges nothing if its source fails', async () => {
    for (const [failure, status] of [
      [{ kind: 'upstream_failed', source: 's' }, 502],
      [{ kind: 'upstream_timeout', source: 's' }, 504],
      [{ kind: 'unavailable', what: 'x', retryAfterMs: 2_500 }, 503],
    ] as const) {
      world = createWorld()
      world.bookFailure = failure
      world.upstream = () => ({ ok: false, error: failure })
      const reply = await world.send(whole)
      expect(reply.status).toBe(status)
      expect(reply.headers['retry-after']).toBe(status === 503 ? '3' : undefined)
      expect([world.charged, world.released, world.balance]).toEqual([[], [price], 1_000 * CREDIT])
    }
  })

  it('reports a bug and returns internal without charging', async () => {
    world.upstream = () => {
      throw new Error('secret detail')
    }
    Object.defineProperty(world, 'bookFailure', {
      get: () => {
        throw new Error('secret detail')
      },
    })
    const reply = await world.send(whole)
    expect(reply.status).toBe(500)
    expect(reply.body).not.toContain('secret')
    expect(reply.body).toContain('req_1')
    expect(world.charged).toEqual([])
    expect(world.reported.length).toBe(1)
  })
})
