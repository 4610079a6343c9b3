// The list of DEXes: fetched once for many calls, and used to reject unknown ones.

import { beforeEach, describe, expect, it } from 'vitest'
import { err, ok } from '../../../src/core/result.ts'
import { FLIGHT_MAX_MS } from '../../../src/info/ports.ts'
import { CATALOGUE, queryOf } from '../../../src/info/queries/catalogue.ts'
import { usesHistory } from '../../../src/info/query.ts'
import { createWorld, DEX_LIST, UPSTREAM_ANSWERS, USER, type World } from '../answer/service-world.ts'

const ALL = { type: 'clearinghouseState', user: USER, dex: '*' }
const DOWN = err({ kind: 'upstream_failed', source: 's' } as const)

let world: World
beforeEach(() => {
  world = createWorld()
})
const lists = () => world.asked.filter((body) => body === DEX_LIST).length
const withoutList = () => {
  world.upstream = (type) => (type === 'perpDexs' ? DOWN : ok(UPSTREAM_ANSWERS[type]!))
}

describe('the list', () => {
  it('is fetched once for concurrent calls', async () => {
    const open = Promise.withResolvers<void>()
    world.upstream = async (type) => {
      await open.promise
      return ok(UPSTREAM_ANSWERS[type]!)
    }
    const users = Array.from({ length: 50 }, (_, i) => `0x${String(i).padStart(40, '0')}`)
    const replies = users.map((user) => world.send({ ...ALL, user }))
    open.resolve()
    expect(new Set((await Promise.all(replies)).map(({ status }) => status))).toEqual(new Set([200]))
    expect(lists()).toBe(1)
  })

  it('times out if the fetching call disappeared', async () => {
    const waited = Promise.withResolvers<void>()
    world.sleep = (ms) => (ms === FLIGHT_MAX_MS ? waited.promise : new Promise(() => {}))
    world.upstream = (type) => (type === 'perpDexs' ? new Promise(() => {}) : ok(UPSTREAM_ANSWERS[type]!))
    world.send(ALL)
    const other = world.send({ ...ALL, user: `0x${'1'.repeat(40)}` })
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    waited.resolve()
    expect((await other).status).toBe(504)
  })

  it('is used for an hour if the source fails, with a retry every two seconds at most', async () => {
    await world.send(ALL)
    withoutList()
    world.now += 60 * 60_000 - 2_000
    for (let i = 0; i < 5; i++) expect((await world.send(ALL)).status).toBe(200)
    expect(lists()).toBe(2)
    world.now += 2_000
    expect((await world.send(ALL)).status).toBe(502)
    expect(lists()).toBe(3)
    world.upstream = (type) => ok(UPSTREAM_ANSWERS[type]!)
    expect((await world.send(ALL)).status).toBe(502)
    world.now += 2_000
    expect((await world.send(ALL)).status).toBe(200)
  })
})

/** Own history needs no upstream: an unseen DEX has no trades. */
const ON_DEX = CATALOGUE.filter((query) => {
  const { type, request, example } = query
  const parsed = request.safeParse({ type, ...example.request, dex: 'xyz' })
  return type !== 'perpDexLimits' && !usesHistory(query) && parsed.success && 'dex' in parsed.data
})

describe('an unknown DEX', () => {
  it('is rejected by these types', () => {
    const types = ON_DEX.map(({ type }) => type).sort()
    expect(types.slice(0, 5).join(' ')).toBe(
      'allMids batchClearinghouseState clearinghouseState frontendOpenOrders marginTable',
    )
    expect(types.slice(5).join(' ')).toBe(
      'meta metaAndAssetCtxs openOrders perpDexStatus perpsAtOpenInterestCap portfolioState',
    )
  })

  it.each(ON_DEX.map(({ type }) => type))(
    '%s: is refused naming dex, uncharged, at one call for the list',
    async (type) => {
      const ask = (dex: string) => world.send({ type, ...queryOf(type)!.example.request, dex })
      for (const dex of ['nope', 'XYZ', '__proto__']) {
        const reply = await ask(dex)
        expect([reply.status, JSON.parse(reply.body).msg]).toEqual([
          422,
          expect.stringMatching(dex === 'XYZ' ? /^dex: .*"xyz"/ : /^dex: [^"]*$/),
        ])
      }
      expect(world.asked).toEqual(type === 'allMids' ? [] : [DEX_LIST])
      expect(world.charged).toEqual([])
      expect((await ask('xyz')).status).toBe(200)
      expect((await ask('')).status).toBe(200)
      expect(lists()).toBe(type === 'allMids' ? 0 : 1)
    },
  )

  it('yields null for perpDexLimits, as on the exchange', async () => {
    world.upstream = () => ok('null')
    expect((await world.send({ type: 'perpDexLimits', dex: 'nope' })).body).toBe('null')
  })

  it('may be new, so the list is fetched again after ten seconds', async () => {
    const call = { type: 'meta', dex: 'new' }
    expect((await world.send(call)).status).toBe(422)
    const { perpDexs, meta } = UPSTREAM_ANSWERS
    world.upstream = (type) => ok(type === 'perpDexs' ? perpDexs!.replace('"flx"', '"new"') : meta!)
    world.now += 9_999
    expect([(await world.send(call)).status, lists()]).toEqual([422, 1])
    world.now += 1
    expect([(await world.send(call)).status, lists()]).toEqual([200, 2])
  })

  it('is left to the upstream if the list is unavailable', async () => {
    withoutList()
    expect((await world.send({ type: 'meta', dex: 'xyz' })).status).toBe(200)
    world.upstream = () => err({ kind: 'bad_field', issues: [{ path: '', message: 'no' }] })
    world.now += 60_000
    const reply = await world.send({ type: 'openOrders', user: USER, dex: 'nope' })
    expect([reply.status, JSON.parse(reply.body).msg]).toEqual([422, expect.stringMatching(/^dex: /)])
  })
})
