// Types that Weir composes from several upstream responses: results, upstream requests and failures.

import { beforeEach, describe, expect, it } from 'vitest'
import { err, ok } from '../../src/core/result.ts'
import { FAN_OUT_MAX_MS } from '../../src/info/sources/fan-out.ts'
import { createWorld, DEX_LIST, UPSTREAM_ANSWERS, USER, type World } from './answer/service-world.ts'

const CREDIT = 1_000_000
const user = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const TIMEOUT = { kind: 'upstream_timeout', source: 's' } as const
const REFUSED = { kind: 'bad_field', issues: [{ path: '', message: 'no' }] } as const

let world: World
beforeEach(() => {
  world = createWorld()
})

describe.each([
  ['batchClearinghouseState', 'clearinghouseState'],
  ['batchSpotClearinghouseState', 'spotClearinghouseState'],
])('%s', (type, single) => {
  const send = (users: unknown, more: object = {}) => world.send({ type, users, ...more })

  it('requests each user once, in lower case, and keeps the order of first mention', async () => {
    world.upstream = (_, body) => ok(JSON.stringify(JSON.parse(body).user))
    const a = user(0xab)
    const b = user(0xcd)
    const reply = await send([b, a.replace('ab', 'AB'), b.replace('cd', 'Cd'), a])
    expect(JSON.parse(reply.body)).toEqual([b, a])
    expect(world.asked).toEqual([b, a].map((one) => JSON.stringify({ type: single, user: one })))
    expect(world.charged).toEqual([CREDIT])
  })

  it('keeps the order regardless of response times, with at most six requests in flight', async () => {
    let open = 0
    let most = 0
    world.upstream = async (_, body) => {
      most = Math.max(most, ++open)
      const n = Number.parseInt(JSON.parse(body).user, 16)
      for (let turn = 0; turn < 20 + ((n * 7) % 11); turn++) await Promise.resolve()
      open--
      return ok(String(n))
    }
    const reply = await send(Array.from({ length: 50 }, (_, i) => user(i)))
    expect(JSON.parse(reply.body)).toEqual(Array.from({ length: 50 }, (_, i) => i))
    expect(most).toBe(6)
  })

  it('times out hanging requests and returns errors in their slots', async () => {
    const late = Promise.withResolvers<void>()
    world.sleep = (ms) => (ms === FAN_OUT_MAX_MS ? late.promise : new Promise(() => {}))
    world.upstream = (_, body) => (Number.parseInt(JSON.parse(body).user, 16) < 3 ? ok('{}') : new Promise(() => {}))
    const reply = send(Array.from({ length: 50 }, (_, i) => user(i)))
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    // Three requests finished, six hang, and the rest were never sent.
    expect(world.asked.length).toBe(9)
    late.resolve()
    const slots = JSON.parse((await reply).body)
    expect([slots.length, slots.slice(0, 3)]).toEqual([50, [{}, {}, {}]])
    const failed = Array.from({ length: 47 }, (_, i) => ({ error: 'upstream_error', user: user(i + 3) }))
    expect(slots.slice(3)).toMatchObject(failed)
    expect([world.asked.length, world.charged]).toEqual([9, [CREDIT]])
  })

  it('puts an error in the slot of a user whose state is unavailable', async () => {
    world.upstream = (_, body) => (body.includes(user(2)) ? err(TIMEOUT) : ok('{}'))
    const reply = await send([1, 2, 3].map(user))
    expect([reply.status, world.charged]).toEqual([200, [CREDIT]])
    expect(JSON.parse(reply.body)).toMatchObject([{}, { error: 'upstream_error', user: user(2) }, {}])
  })

  it('fails without a charge if no slot can be filled', async () => {
    world.upstream = () => err(TIMEOUT)
    expect((await send([1, 2].map(user))).status).toBe(504)
    expect(world.charged).toEqual([])
  })
})

it('batchClearinghouseState queries the given DEX and has no wildcard', async () => {
  await world.send({ type: 'batchClearinghouseState', users: [USER], dex: 'xyz' })
  expect(world.asked).toEqual([DEX_LIST, `{"type":"clearinghouseState","user":"${USER}","dex":"xyz"}`])
  const reply = await world.send({ type: 'batchClearinghouseState', users: [USER], dex: '*' })
  expect([reply.status, JSON.parse(reply.body).msg]).toEqual([422, expect.stringMatching(/^dex: /)])
})

describe('portfolioState', () => {
  const { clearinghouseState, spotClearinghouseState, userAbstraction } = UPSTREAM_ANSWERS
  const rest = `"spotClearinghouseState":${spotClearinghouseState},"userAbstraction":${userAbstraction}}`

  it('consists of the bytes of its three parts', async () => {
    const reply = await world.send({ type: 'portfolioState', user: USER, dex: 'xyz' })
    expect(reply.body).toBe(`{"clearinghouseState":${clearinghouseState},${rest}`)
    expect(world.asked).toContain(`{"type":"clearinghouseState","user":"${USER}","dex":"xyz"}`)
    expect(world.charged).toEqual([CREDIT])
  })

  it.each(['ALL_DEXES', '*'])('returns the state on every DEX for %s, for 10 credits', async (dex) => {
    const reply = await world.send({ type: 'portfolioState', user: USER, dex })
    const states = ['native', 'xyz', 'flx'].map((name) => `"${name}":${clearinghouseState}`)
    expect(reply.body).toBe(`{"clearinghouseState":{${states.join(',')}},${rest}`)
    expect(world.charged).toEqual([10 * CREDIT])
  })

  it.each(['clearinghouseState', 'spotClearinghouseState', 'userAbstraction'])(
    'fails whole without %s',
    async (part) => {
      world.upstream = (type) => (type === part ? err(TIMEOUT) : ok(UPSTREAM_ANSWERS[type]!))
      expect((await world.send({ type: 'portfolioState', user: USER })).status).toBe(504)
      expect(world.charged).toEqual([])
    },
  )
})

describe('allPerpMetas', () => {
  const send = () => world.send({ type: 'allPerpMetas' })

  it('is passed through unchanged if a source serves it', async () => {
    expect((await send()).body).toBe(UPSTREAM_ANSWERS.allPerpMetas)
    expect(world.asked).toEqual(['{"type":"allPerpMetas"}'])
  })

  it('is composed of the meta of every DEX otherwise', async () => {
    world.upstream = (type, body) => {
      if (type === 'allPerpMetas') return err(REFUSED)
      return ok(type === 'meta' ? JSON.stringify(JSON.parse(body).dex ?? null) : UPSTREAM_ANSWERS[type]!)
    }
    expect((await send()).body).toBe('[null,"xyz","flx"]')
    expect(world.charged).toEqual([CREDIT])
  })

  it('fails if one DEX is unavailable', async () => {
    world.upstream = (type, body) => {
      if (type === 'allPerpMetas') return err(REFUSED)
      return body.includes('"flx"') ? err(TIMEOUT) : ok(UPSTREAM_ANSWERS[type]!)
    }
    expect([(await send()).status, world.charged]).toEqual([504, []])
  })
})

describe('candleSnapshot', () => {
  const req = { coin: 'BTC', interval: '1h', startTime: 5, endTime: 9 }
  const send = (more: object = {}) => world.send({ type: 'candleSnapshot', req: { ...req, ...more } })
  const candles = (count: number) =>
    Array.from({ length: count }, (_, t) => ({ t, T: t, s: 'BTC', o: '81307.00', n: 1 }))

  it('accepts null as the end, meaning now', async () => {
    await send({ endTime: null, extra: 1 })
    expect(world.asked).toEqual(['{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1h","startTime":5}}'])
  })

  it.each<[object, string]>([
    [{ interval: '1mo' }, 'interval'],
    [{ interval: null }, 'interval'],
    [{ interval: '__proto__' }, 'interval'],
    [{ coin: undefined }, 'coin'],
    [{ startTime: undefined }, 'startTime'],
    [{ startTime: '5' }, 'startTime'],
    [{ startTime: 1e300 }, 'startTime'],
    [{ startTime: 10 }, 'endTime'],
  ])('rejects %j', async (more, field) => {
    const reply = await send(more)
    expect([reply.status, world.asked]).toEqual([422, []])
    expect(JSON.parse(reply.body).msg).toContain(`req.${field}: `)
  })

  it('passes up to 5,000 candles through unchanged and cuts longer lists at the newer end', async () => {
    const page = JSON.stringify(candles(5_000)).replace('[', '[ ')
    world.upstream = () => ok(page)
    expect((await send()).body).toBe(page)
    world.upstream = () => ok(JSON.stringify(candles(5_001).map((candle) => ({ ...candle, pad: 'x'.repeat(60) }))))
    const cut = JSON.parse((await send({ endTime: 10 })).body)
    expect([cut.length, cut[0].t, cut.at(-1).t]).toEqual([5_000, 0, 4_999])
  })
})

it.each([
  ['batchSpotClearinghouseState', { users: [1, 2, 3].map(user) }],
  ['batchClearinghouseState', { users: [1, 2, 3].map(user) }],
  ['clearinghouseState', { user: user(2), dex: '*' }],
  ['portfolioState', { user: user(2) }],
  ['allPerpMetas', {}],
])('%s has the lag of its most delayed part', async (type, request) => {
  let answered = 0
  Object.defineProperty(world, 'lateness', { get: () => ({ lagMs: answered++ === 1 ? 61_500 : 2_000 }) })
  world.upstream = (part) =>
    part === 'allPerpMetas' ? err(REFUSED) : ok(part === 'perpDexs' ? '[null,{"name":"xyz"}]' : '{}')
  expect((await world.send({ type, ...request })).headers.age).toBe('61')
})

describe('requests of users', () => {
  it('orderStatus accepts an id or a cloid in any case', async () => {
    const cloid = `0x${'ab'.repeat(16)}`
    await world.send({ type: 'orderStatus', user: USER, oid: 7 })
    await world.send({ type: 'orderStatus', user: USER, oid: cloid.replace('ab', 'AB') })
    expect(world.asked).toEqual([
      `{"type":"orderStatus","user":"${USER}","oid":7}`,
      `{"type":"orderStatus","user":"${USER}","oid":"${cloid}"}`,
    ])
  })

  it.each(['userFillsByTime', 'userTwapSliceFillsByTime', 'userNonFundingLedgerUpdates'])(
    '%s refuses a window that ends before it begins',
    async (type) => {
      const reply = await world.send({ type, user: USER, startTime: 2, endTime: 1 })
      expect([reply.status, JSON.parse(reply.body).msg]).toEqual([422, expect.stringMatching(/^endTime: /)])
      expect((await world.send({ type, user: USER, startTime: 2, endTime: null })).status).toBe(200)
    },
  )

  it('a false flag is equivalent to an absent flag', async () => {
    await world.send({ type: 'userFills', user: USER, aggregateByTime: false })
    await world.send({ type: 'userFills', user: USER, aggregateByTime: true })
    const bare = `{"type":"userFills","user":"${USER}"`
    expect(world.asked).toEqual([`${bare}}`, `${bare},"aggregateByTime":true}`])
  })
})
