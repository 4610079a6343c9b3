import { beforeEach, describe, expect, it } from 'vitest'
import { err, ok } from '../../../src/core/result.ts'
import { FLIGHT_MAX_MS } from '../../../src/info/ports.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { createWorld, IDENTITY, UPSTREAM_ANSWERS, USER, type World } from './service-world.ts'

const META = { type: 'meta' }
const STATE = { type: 'clearinghouseState', user: USER }
const FAILED = err({ kind: 'upstream_failed', source: 's' } as const)

let world: World
beforeEach(() => {
  world = createWorld()
})

const codeOf = ({ body }: { body: string }) => JSON.parse(body).code

/** An upstream with manual responses. */
function gate() {
  const open = Promise.withResolvers<string>()
  world.upstream = async () => ok(await open.promise)
  return { answer: (text: string) => open.resolve(text) }
}

const turns = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

describe('rejected bodies', () => {
  it.each([
    ['', 400, 'invalid_json'],
    ['{"type":"meta"', 400, 'invalid_json'],
    ['['.repeat(30_000), 400, 'invalid_json'],
    [`{"type":"meta","x":${'['.repeat(100)}${']'.repeat(100)}}`, 400, 'invalid_json'],
    ['[]', 422, 'invalid_request'],
    ['null', 422, 'invalid_request'],
    ['"meta"', 422, 'invalid_request'],
    ['{}', 422, 'invalid_request'],
    ['{"type":1}', 422, 'invalid_request'],
    ['{"type":null}', 422, 'invalid_request'],
    ['{"type":"nonsense"}', 400, 'unsupported_type'],
    ['{"type":"__proto__"}', 400, 'unsupported_type'],
    ['{"type":"constructor"}', 400, 'unsupported_type'],
    ['{"__proto__":{"type":"meta"}}', 422, 'invalid_request'],
    ['{"type":"meta"}{}', 400, 'invalid_json'],
    ["{type:'meta'}", 400, 'invalid_json'],
    ['{"type":"meta","type":"nope"}', 400, 'unsupported_type'],
    ['{"type":"Meta"}', 400, 'unsupported_type'],
    ['{"type":"\\ud800"}', 400, 'unsupported_type'],
    [`{"type":"${'x'.repeat(60_000)}"}`, 400, 'unsupported_type'],
    ['{"type":"l2Book","coin":"\\udfff"}', 422, 'invalid_request'],
    ['{"type":"meta","dex":"\\ud800"}', 422, 'invalid_request'],
    ['{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":1e999}}', 422, 'invalid_request'],
  ])('%.60s', async (text, status, code) => {
    const reply = await world.send(text)
    expect([reply.status, codeOf(reply)]).toEqual([status, code])
    expect(reply.headers['x-credits-remaining']).toBe('1000')
    expect([world.charged, world.released, world.asked]).toEqual([[], [0], []])
  })

  it('name the missing field and the sent type', async () => {
    const said = async (body: object) => JSON.parse((await world.send(body)).body)
    expect((await said({})).msg).toMatch(/^type: /)
    expect(await said({ type: 'x' })).toMatchObject({ type: 'x', types: CATALOGUE.map(({ type }) => type) })
    expect((await said({ type: 'l2Bok' })).msg).toContain('"l2Book"')
    expect((await said({ type: 'l2Book', coins: ['BTC'] })).msg).toMatch(/^coin: .*"coins"/)
    const req = { symbol: 'BTC', interval: '1H', startTime: 0 }
    expect((await said({ type: 'candleSnapshot', req })).msg).toMatch(/^req.coin: .*"symbol".*; req.interval: .*"1h"/)
  })

  it('are limited to 20 per second for each key', async () => {
    for (let i = 0; i < 20; i++) expect((await world.send('x')).status).toBe(400)
    const limited = await world.send('x')
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '1'])
    expect((await world.send('x', 'other')).status).toBe(400)
    world.now += 1_000
    expect((await world.send('x')).status).toBe(400)
  })

  it('do not block charged calls served from memory, books or a source', async () => {
    const calls = [
      META,
      { type: 'l2Book', coin: 'BTC' },
      { type: 'allMids' },
      STATE,
      { type: 'openOrders', user: USER },
    ]
    for (let i = 0; i < 500; i++) await world.send('x')
    for (let turn = 0; turn < 3; turn++) {
      const statuses = []
      for (const call of calls) statuses.push((await world.send(call)).status)
      expect([turn, statuses, (await world.send('x')).status]).toEqual([turn, calls.map(() => 200), 429])
    }
    expect(world.charged).toHaveLength(15)
  })

  it('at a source are limited to a hundred concurrent attempts; memory still serves', async () => {
    expect((await world.send(META)).status).toBe(200)
    world.now += 61_000
    const refuse = world.upstream
    world.upstream = () => err({ kind: 'bad_field', issues: [{ path: '', message: 'no' }] } as const)
    const unknown = (i: number) => ({ type: 'fundingHistory', coin: `NO${i}`, startTime: 1 })
    for (let i = 0; i < 500; i++) await world.send(unknown(i))
    expect(world.asked).toHaveLength(1 + 20 + 100)
    world.upstream = refuse
    // meta is no longer fresh, and no source may be called now.
    expect([(await world.send(META)).status, (await world.send(STATE)).status]).toEqual([200, 429])
    world.now += 50
    // Charged calls do not count as tries.
    for (let i = 0; i < 30; i++)
      expect((await world.send({ ...STATE, user: `0x${String(i).padStart(40, '0')}` })).status).toBe(200)
  })

  it('and source failures share one limit for concurrent calls and batches', async () => {
    const down = Promise.withResolvers<typeof FAILED>()
    world.upstream = () => down.promise
    const users = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
    const call = (i: number) =>
      i % 2 === 0 ? { type: 'batchClearinghouseState', users } : { ...STATE, user: `0x${String(i).padStart(40, '0')}` }
    const calls = Array.from({ length: 100 }, (_, i) => world.send(call(i)))
    await turns()
    down.resolve(FAILED)
    const replies = await Promise.all([...calls, ...Array.from({ length: 100 }, () => world.send('x'))])
    const refused = replies.filter(({ status }) => status === 429)
    expect([replies.length - refused.length, world.charged]).toEqual([20, []])
    expect(refused[0]!.headers).toMatchObject({
      'x-credits-cost': '0',
      ratelimit: '"uncharged";r=0;t=1',
      'ratelimit-policy': '"uncharged";q=20;w=1',
    })
  })

  it('by a source are counted later if many were in flight', async () => {
    const known = Promise.withResolvers<void>()
    world.upstream = async () => {
      await known.promise
      return err({ kind: 'bad_field', issues: [{ path: '', message: 'no' }] } as const)
    }
    const unknown = (i: number) => ({ type: 'fundingHistory', coin: `NO${i}`, startTime: 1 })
    const calls = Array.from({ length: 120 }, (_, i) => world.send(unknown(i)))
    await turns()
    known.resolve()
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 422)).toHaveLength(20)
    world.now += 1_000
    const late = await world.send('x')
    expect([late.status, late.headers['retry-after']]).toEqual([429, '5'])
    world.now += 4_050
    expect((await world.send(unknown(0))).status).toBe(422)
    expect([world.asked.length, world.charged]).toEqual([121, []])
  })

  it('still report a revoked key', async () => {
    world.holdFailure = { kind: 'key_revoked' }
    expect((await world.send('x')).status).toBe(401)
    expect((await world.send(META)).status).toBe(401)
  })
})

describe('freshness', () => {
  it('adds the lag of the source to the age of a response', async () => {
    world.lateness = { lagMs: 61_900 }
    expect((await world.send(STATE)).headers.age).toBe('61')
    expect((await world.send(META)).headers.age).toBe('61')
    world.now += 30_000
    expect((await world.send(META)).headers.age).toBe('91')
  })

  it('adds the time since the fetch started for calls that join it', async () => {
    const { answer } = gate()
    const first = world.send(STATE)
    await turns()
    world.now += 3_000
    const second = world.send(STATE)
    await turns()
    world.now += 2_000
    answer('{}')
    expect([(await first).headers.age, (await second).headers.age]).toEqual([undefined, '3'])
    expect(world.asked).toHaveLength(1)
  })

  it('serves l2Book for less than 500 ms from the start of the read, with age and height', async () => {
    const first = await world.send({ type: 'l2Book', coin: 'BTC' })
    expect([first.headers.age, first.headers['x-block-height']]).toEqual([undefined, '42'])
    world.now += 499
    const cached = await world.send({ type: 'l2Book', coin: 'BTC' })
    expect([cached.headers.age, cached.headers['x-block-height'], cached.body]).toEqual(['0', '42', first.body])
    expect(world.bookCalls).toBe(1)
    world.now += 1
    await world.send({ type: 'l2Book', coin: 'BTC' })
    expect(world.bookCalls).toBe(2)
    expect(world.charged.length).toBe(3)
  })

  it('serves mids for a second, and no expired book if the hub is unavailable', async () => {
    await world.send({ type: 'allMids' })
    world.now += 999
    world.bookFailure = { kind: 'unavailable', what: 'x' }
    expect((await world.send({ type: 'allMids' })).status).toBe(200)
    world.now += 1
    expect((await world.send({ type: 'allMids' })).status).toBe(503)
  })

  it('reads l2BookDiffSnapshot at most twice for concurrent calls, and again for the next', async () => {
    const call = () => world.send({ type: 'l2BookDiffSnapshot', coin: 'BTC' })
    await Promise.all(Array.from({ length: 100 }, call))
    expect([world.bookCalls, world.charged.length]).toEqual([2, 100])
    await call()
    expect(world.bookCalls).toBe(3)
  })

  it('does not cache user state, but shares a running fetch', async () => {
    const { answer } = gate()
    const replies = [STATE, { ...STATE, user: USER.toUpperCase().replace('0X', '0x') }].map((body) => world.send(body))
    await turns()
    answer('{"shared":1}')
    expect((await Promise.all(replies)).map(({ body }) => body)).toEqual(['{"shared":1}', '{"shared":1}'])
    expect(world.asked).toEqual([`{"type":"clearinghouseState","user":"${USER}"}`])
    await world.send(STATE)
    expect(world.asked.length).toBe(2)
    expect(world.charged.length).toBe(3)
  })

  // WS-140
  it('reads for streams only from fetches that start afterwards, or from the cache', async () => {
    const asking = { identity: IDENTITY, requestId: 'r', waitUntil: () => undefined }
    const flying: ((text: string) => void)[] = []
    world.upstream = (type) =>
      type === 'meta' ? ok('{}') : new Promise((land) => flying.push((text) => land(ok(text))))
    const reads = [1, 2, 3].map(() => world.service.read(JSON.stringify(STATE), asking))
    await turns()
    flying.shift()!('"before"')
    await turns()
    flying.shift()!('"after"')
    expect((await Promise.all(reads)).map((answer) => answer?.body)).toEqual(['"before"', '"after"', '"after"'])
    for (let i = 0; i < 2; i++) await world.service.read(JSON.stringify(META), asking)
    expect(world.asked.filter((body) => body === JSON.stringify(META))).toHaveLength(1)
  })

  it('shares user state between keys: each pays, and keys without credits get nothing', async () => {
    const { answer } = gate()
    world.broke.add('poor')
    const replies = ['rich', 'poor', 'other'].map((key) => world.send(STATE, key))
    await turns()
    answer('{"of":"the user, not the key"}')
    const [rich, poor, other] = await Promise.all(replies)
    expect([rich!.status, other!.status, world.asked.length]).toEqual([200, 200, 1])
    expect(other!.body).toBe(rich!.body)
    expect([poor!.status, codeOf(poor!), poor!.body.includes('not the key')]).toEqual([402, 'credits_exhausted', false])
    expect(world.payers).toEqual(['rich', 'other'])
    // User state is never cached, so the next call fetches again.
    world.upstream = () => ok('{"later":1}')
    expect((await world.send(STATE, 'rich')).body).toBe('{"later":1}')
  })

  it('reads no full book without credits, and none for an immediate rejection', async () => {
    world.broke.add('poor')
    for (const request of [
      { type: 'l2Book', coin: 'BTC', nSigFigs: 2 },
      { type: 'l2BookDiffSnapshot', coin: 'BTC' },
    ])
      expect((await world.send(request, 'poor')).status).toBe(402)
    expect(world.bookCalls).toBe(0)
    const reply = await world.service.handle(
      {
        identity: IDENTITY,
        requestId: 'req_1',
        charging: { hold: () => err({ kind: 'credits_exhausted', neededMicro: 1, remainingMicro: 0 }) },
        waitUntil: () => {},
        recordRefusal: () => {},
      },
      '{"type":"l2Book","coin":"BTC"}',
    )
    expect([reply.status, world.bookCalls]).toEqual([402, 0])
  })

  it('never mixes users', async () => {
    world.upstream = (_, body) => ok(JSON.stringify(JSON.parse(body).user))
    const other = USER.replace('ab', 'cd')
    const replies = await Promise.all([STATE, { ...STATE, user: other }, STATE].map((body) => world.send(body)))
    expect(replies.map(({ body }) => JSON.parse(body))).toEqual([USER, other, USER])
  })

  it('serves meta for a minute, then the stale copy during a refresh, charged each time', async () => {
    await world.send(META)
    world.now += 59_999
    expect((await world.send(META)).headers.age).toBe('59')
    expect(world.asked.length).toBe(1)
    world.now += 1
    world.upstream = () => ok('"new"')
    const stale = await world.send(META)
    expect([stale.headers.age, stale.body]).toEqual(['60', UPSTREAM_ANSWERS.meta])
    await Promise.all(world.work)
    expect((await world.send(META)).body).toBe('"new"')
    expect(world.asked.length).toBe(2)
    expect(world.charged.length).toBe(4)
  })

  it('leaves no work behind for a call served stale during another refresh', async () => {
    await world.send(META)
    world.now += 60_000
    const source = gate()
    await world.send(META)
    let waits = 0
    world.sleep = () => {
      waits++
      return new Promise(() => {})
    }
    for (let i = 0; i < 5; i++) expect((await world.send(META)).headers.age).toBe('60')
    expect(waits).toBe(0)
    source.answer('"new"')
    await Promise.all(world.work)
    expect((await world.send(META)).body).toBe('"new"')
  })

  it('returns a rejection by the source, even with an older copy', async () => {
    await world.send(META)
    world.upstream = () => err({ kind: 'bad_field', issues: [{ path: '', message: 'no' }] })
    world.now += 30 * 60_000
    const reply = await world.send(META)
    expect([reply.status, codeOf(reply), world.charged.length]).toEqual([422, 'invalid_request', 1])
  })

  it('suggests a coin for an unknown coin and reads the books once', async () => {
    const refused = err({ kind: 'bad_field' as const, issues: [{ path: '', message: 'is not accepted' }] })
    world.upstream = async () => refused
    const said = async (body: object) => JSON.parse((await world.send(body)).body).msg
    const funding = (coin: string) => said({ type: 'fundingHistory', coin, startTime: 1 })
    expect(await funding('btc')).toMatch(/^coin: .*"BTC"/)
    const candles = { coin: 'gold', interval: '1m', startTime: 1 }
    expect(await said({ type: 'candleSnapshot', req: candles })).toMatch(/^req.coin: .*"xyz:GOLD"/)
    for (const coin of ['BTC', 'nothing']) expect(await funding(coin)).toMatch(/^coin: [^"]*$/)
    expect([world.bookCalls, world.charged]).toEqual([1, []])
    world.now += 10_000
    world.bookFailure = { kind: 'unavailable', what: 'x' }
    expect(await funding('btc')).toContain('"BTC"')
  })

  it('does not cache failures', async () => {
    world.upstream = () => FAILED
    expect((await world.send(META)).status).toBe(502)
    world.upstream = () => ok('[]')
    expect((await world.send(META)).body).toBe('[]')
  })
})

describe('flights', () => {
  it('calls an upstream once for 1,000 concurrent requests, and each of them pays', async () => {
    const { answer } = gate()
    const replies = Array.from({ length: 1_000 }, (_, i) => world.send({ ...META, [`extra${i}`]: i }))
    await turns()
    answer('{"x":1.50}')
    expect(new Set((await Promise.all(replies)).map(({ status, body }) => `${status} ${body}`))).toEqual(
      new Set(['200 {"x":1.50}']),
    )
    expect(world.asked.length).toBe(1)
    expect([world.charged.length, world.balance]).toEqual([1_000, 0])
  })

  it('fails all followers without a charge', async () => {
    world.upstream = () => FAILED
    const replies = await Promise.all([1, 2, 3].map(() => world.send(META)))
    expect(replies.map(({ status }) => status)).toEqual([502, 502, 502])
    expect([world.asked.length, world.charged.length, world.released.length]).toEqual([1, 0, 3])
  })

  it('finishes fetch and charge after the caller disconnects', async () => {
    const { answer } = gate()
    world.send(META)
    await turns()
    expect(world.work.length).toBeGreaterThan(0)
    answer('[]')
    await Promise.all(world.work)
    expect(world.charged.length).toBe(1)
  })

  it('is not joined after its time limit, because its leader may be gone', async () => {
    gate()
    world.send(META)
    await turns()
    world.now += FLIGHT_MAX_MS
    world.upstream = () => ok('[]')
    expect((await world.send(META)).body).toBe('[]')
  })

  it('calls an upstream only after the hold, and spends exactly the balance', async () => {
    world.balance = 5_000_000
    const replies = await Promise.all(
      Array.from({ length: 64 }, (_, i) => world.send({ type: 'fundingHistory', coin: `C${i}`, startTime: 1 })),
    )
    expect(replies.filter(({ status }) => status === 200).length).toBe(5)
    expect(replies.filter(({ status }) => status === 402).length).toBe(59)
    expect([world.asked.length, world.balance]).toEqual([5, 0])
  })
})
