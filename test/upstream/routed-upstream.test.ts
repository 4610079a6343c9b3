import { describe, expect, it } from 'vitest'
import type { Budget } from '../../src/upstream/leased-budget.ts'
import type { SourceReply } from '../../src/upstream/outcome.ts'
import { answer, fakeUpstream, status } from './fake-sources.ts'

const NODE_TYPES = ['meta', 'openOrders']
const ok = (text: string) => ({ ok: true, value: { text } })
const UNREACHABLE: SourceReply = { failed: 'unreachable' }
const TIMEOUT: SourceReply = { failed: 'timeout' }
const NULL_500: SourceReply = { status: 500, retryAfter: null, text: 'null' }

/** A node that serves two types, and a public source that serves all; neither reports its clock. */
function nodeAndPublic(node: () => SourceReply, pub: () => SourceReply = () => answer('1')) {
  return fakeUpstream([
    { name: 'node', types: NODE_TYPES, reply: node },
    { name: 'public', reply: (type) => (type === 'exchangeStatus' ? status(422) : pub()) },
  ])
}
const nodeAlone = (reply: () => SourceReply) => fakeUpstream([{ name: 'node', types: NODE_TYPES, reply }])

describe('RoutedUpstream', () => {
  it('requests from the first source of the type and returns its text unchanged', async () => {
    const { state, ask } = nodeAndPublic(() => answer('{"a": 1.0}'))
    expect(await ask('meta')).toEqual(ok('{"a": 1.0}'))
    expect(state.sent).toEqual(['node meta'])
  })

  it('retries a failure once with full jitter', async () => {
    const replies = [status(500), answer('[]')]
    const { state, ask } = nodeAlone(() => replies.shift()!)
    expect(await ask('meta')).toEqual(ok('[]'))
    expect([state.sent.length, state.slept]).toEqual([2, [50]])
  })

  it.each([
    [status(500), 2],
    [{ failed: 'cut' } as SourceReply, 2],
    [NULL_500, 2],
    [UNREACHABLE, 2],
    [status(404), 1],
    [TIMEOUT, 1],
    [status(429), 1],
    [status(503, '3'), 1],
  ])('goes on to the next source after %j', async (failure, attempts) => {
    const { state, ask } = nodeAndPublic(() => failure)
    expect(await ask('meta')).toEqual(ok('1'))
    expect(state.sent.length).toBe(attempts + 1)
  })

  it.each([
    [answer('{"cut":'), { kind: 'upstream_failed', source: 'public' }],
    [TIMEOUT, { kind: 'upstream_timeout', source: 'public' }],
    [status(429, '7'), { kind: 'unavailable', retryAfterMs: 7_000 }],
    [status(503, '7'), { kind: 'unavailable', retryAfterMs: 7_000 }],
    [status(422), { kind: 'bad_field' }],
  ])('says what went wrong at the last source: %j', async (sent, failure) => {
    const { ask } = nodeAndPublic(
      () => answer('1'),
      () => sent,
    )
    expect(await ask('userFees')).toMatchObject({ ok: false, error: failure })
  })

  it('has no source for an unserved type', async () => {
    const { state, ask } = nodeAlone(() => answer('1'))
    expect(await ask('userFees')).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
    expect(state.sent).toEqual([])
  })

  it('gives each source its own timeout, and eleven seconds in total', async () => {
    const { state, ask } = fakeUpstream(
      ['a', 'b', 'c'].map((name) => ({ name, types: ['meta'], timeoutMs: 5_000, reply: () => TIMEOUT })),
    )
    expect(await ask('meta')).toMatchObject({ error: { kind: 'upstream_timeout', source: 'c' } })
    expect(state.now).toBe(11_000)
  })
})

describe('a rejection caused by the caller', () => {
  it('is returned if the operator lists the type for the source', async () => {
    const { state, ask } = nodeAndPublic(() => status(422))
    expect(await ask('meta')).toMatchObject({ error: { kind: 'bad_field' } })
    expect(state.sent).toEqual(['node meta'])
  })

  it('is returned if the source has served the type before; otherwise the next source is tried', async () => {
    let reply = status(422)
    const any = fakeUpstream([
      { name: 'a', reply: () => reply },
      { name: 'b', reply: () => answer('1') },
    ])
    expect(await any.ask('meta')).toEqual(ok('1'))
    // It rejected a request that another source serves, so it is used last from then on.
    expect(await any.ask('meta')).toEqual(ok('1'))
    expect(any.state.sent).toEqual(['a meta', 'b meta', 'b meta'])
    reply = answer('2')
    expect(await any.ask('openOrders')).toEqual(ok('2'))
    reply = status(400)
    expect(await any.ask('openOrders')).toMatchObject({ error: { kind: 'bad_field' } })
    expect(any.state.sent.slice(3)).toEqual(['a openOrders', 'a openOrders'])
  })

  it('may arrive as status 500 with null if a market is named; then the next source decides', async () => {
    const known = nodeAndPublic(() => NULL_500)
    expect(await known.ask('meta', { dex: 'new' })).toEqual(ok('1'))
    const unknown = nodeAndPublic(
      () => NULL_500,
      () => NULL_500,
    )
    expect(await unknown.ask('meta', { dex: 'nope' })).toMatchObject({ error: { kind: 'bad_field' } })
    expect(unknown.state.sent).toEqual(['node meta', 'public meta'])
  })

  it('never opens a breaker', async () => {
    const { state, ask } = nodeAlone(() => status(422))
    for (let i = 0; i < 20; i++) await ask('meta')
    expect(state.sent.length).toBe(20)
  })
})

describe('failing sources', () => {
  it('are paused for every type when down, and recover by themselves', async () => {
    let away = true
    const { state, ask } = nodeAlone(() => (away ? UNREACHABLE : answer('1')))
    state.random = 0
    for (let i = 0; i < 3; i++) await ask('meta')
    expect(state.sent.length).toBe(5)
    const refused = await ask('openOrders')
    expect(refused).toMatchObject({ ok: false, error: { kind: 'unavailable', retryAfterMs: 1_000 } })
    expect(state.sent.length).toBe(5)
    away = false
    state.now += 1_000
    expect(await ask('openOrders')).toEqual(ok('1'))
    expect(await ask('meta')).toEqual(ok('1'))
  })

  it('are paused only for the type that fails', async () => {
    let broken = 'meta'
    const { state, ask } = fakeUpstream([
      { name: 'node', types: NODE_TYPES, reply: (type) => (type === broken ? status(500) : answer('1')) },
    ])
    for (let i = 0; i < 3; i++) await ask('meta')
    const sent = state.sent.length
    expect(await ask('meta')).toMatchObject({ error: { kind: 'unavailable' } })
    expect(state.sent.length).toBe(sent)
    broken = ''
    expect(await ask('openOrders')).toEqual(ok('1'))
  })

  it('are paused for one second, however many requests were in flight when they went down', async () => {
    const hanging = Promise.withResolvers<void>()
    const many = fakeUpstream([
      {
        name: 'node',
        types: NODE_TYPES,
        reply: async () => {
          await hanging.promise
          return UNREACHABLE
        },
      },
    ])
    many.state.random = 0
    const asked = Array.from({ length: 50 }, (_, i) => many.upstream.request('meta', `{"type":"meta","dex":"${i}"}`))
    hanging.resolve()
    await Promise.all(asked)
    expect(many.sources[0]!.health.waitMs('meta', many.state.now)).toBeLessThanOrEqual(1_000)
  })

  it("are probed with a caller's request, not with a clock check, which may fail by itself", async () => {
    let away = true
    const { state, ask } = fakeUpstream([
      {
        name: 'node',
        reply: (type) => (type === 'exchangeStatus' ? TIMEOUT : away ? UNREACHABLE : answer('1')),
      },
    ])
    for (let i = 0; i < 5; i++) await ask('meta')
    expect(await ask('meta')).toMatchObject({ error: { kind: 'unavailable' } })
    away = false
    state.now += 60_000
    expect(await ask('meta')).toEqual(ok('1'))
    expect(await ask('meta')).toEqual(ok('1'))
  })

  it.each([
    [status(429, '3'), 3_000],
    [status(503, '3'), 3_000],
    [status(429), 1_000],
  ])('rest for as long as they ask: %j', async (busy, restMs) => {
    let reply = busy
    const { state, ask } = nodeAlone(() => reply)
    await ask('meta')
    expect(await ask('openOrders')).toMatchObject({ error: { kind: 'unavailable', retryAfterMs: restMs } })
    reply = answer('1')
    state.now += restMs - 1
    expect(await ask('openOrders')).toMatchObject({ error: { kind: 'unavailable' } })
    state.now += 1
    expect(await ask('openOrders')).toEqual(ok('1'))
  })
})

describe('requests that a source cannot serve', () => {
  const TABLE = 'marginTable'
  const example = (id: number) => (type: string) => JSON.stringify(type === TABLE ? { type, id } : { type })
  /** A source that knows the tables below 50 while it is healthy. */
  function tables(failure: SourceReply, exampleId: number, budget?: Budget) {
    const source = { isIll: false, probes: [] as string[] }
    const reply = (type: string, body: string) => {
      const { id } = JSON.parse(body) as { id?: number }
      return source.isIll || (type === TABLE && id! >= 50) ? failure : answer(`{"id":${id ?? null}}`)
    }
    const world = fakeUpstream(
      [{ name: 'node', types: [TABLE, 'meta'], reply, ...(budget && { budget }) }],
      example(exampleId),
    )
    world.state.random = 0
    return { source, ...world }
  }
  const AMBIGUOUS: SourceReply[] = [
    NULL_500,
    status(500),
    status(404),
    status(502),
    answer('<html>'),
    TIMEOUT,
    { failed: 'cut' },
  ]
  const cases = AMBIGUOUS.flatMap((failure) => [20, 60].map((id) => [failure, id] as const))

  it.each(cases)(
    'pause it for nobody, whatever it does then: %j, with an example of %i',
    async (failure, exampleId) => {
      const { ask, state } = tables(failure, exampleId)
      const isExampleGood = exampleId < 50
      // If the example does not exist on this chain, any successful response suffices.
      if (!isExampleGood) expect(await ask(TABLE, { id: 7 })).toMatchObject({ ok: true })
      for (let i = 0; i < 40; i++) {
        for (const id of [99, 100 + i]) expect(await ask(TABLE, { id })).toMatchObject({ ok: false })
        expect(await ask('meta'), `round ${i}`).toMatchObject({ ok: true })
      }
      for (let i = 0; i < 20; i++) await ask(TABLE, { id: 1_000 + i })
      expect(await ask(TABLE, { id: 20 })).toMatchObject({ ok: true })
      expect(await ask('meta')).toMatchObject({ ok: true })
      // One probe per few failures.
      expect(state.sent.length).toBeLessThan(41 + 2 * 100 + 100 / 2 + 5)
    },
  )

  it('are rejections if the type was never served and its example does not exist either', async () => {
    const { ask } = tables(NULL_500, 60)
    for (let i = 0; i < 20; i++)
      expect(await ask(TABLE, { id: 100 + i })).toMatchObject({ error: { kind: 'bad_field' } })
    expect(await ask(TABLE, { id: 20 })).toMatchObject({ ok: true })
  })

  it.each(AMBIGUOUS)('differ from an unhealthy source, which is paused until it recovers: %j', async (failure) => {
    const { ask, source, state } = tables(failure, 20)
    await ask(TABLE, { id: 20 })
    source.isIll = true
    for (let i = 0; i < 8; i++) await ask(TABLE, { id: i })
    const sent = state.sent.length
    expect(await ask(TABLE, { id: 20 })).toMatchObject({ error: { kind: 'unavailable' } })
    expect(state.sent.length).toBe(sent)
    source.isIll = false
    state.now += 30_000
    // The deciding request asks for something that does not exist.
    expect(await ask(TABLE, { id: 99 })).toMatchObject({ ok: false })
    expect(await ask(TABLE, { id: 20 })).toMatchObject({ ok: true })
  })

  it('are judged within the budget: nothing unpaid is sent, and nothing opens meanwhile', async () => {
    let left = 5
    const taken: number[] = []
    const budget: Budget = {
      take: async (weight) => {
        if (left === 0) return { paid: false, waitMs: 60_000 }
        left--
        taken.push(weight)
        return { paid: true, settle: () => {} }
      },
      remaining: async () => null,
    }
    const { ask, source, state } = tables(NULL_500, 20, budget)
    source.isIll = true
    for (let i = 0; i < 5; i++) await ask(TABLE, { id: i })
    expect([state.sent.length, taken.length]).toEqual([5, 5])
    left = 10
    source.isIll = false
    expect(await ask(TABLE, { id: 20 })).toMatchObject({ ok: true })
  })
})

describe('lagging sources', () => {
  /** Sources with these clock lags; null rejects the type. */
  function late(lags: Record<string, number | null>) {
    const world = fakeUpstream(
      Object.keys(lags).map((name) => ({
        name,
        maxLagMs: 5_000,
        reply: (type) => {
          const lagMs = lags[name]
          if (type !== 'exchangeStatus') return answer(`"${name}"`)
          return lagMs == null ? status(422) : answer(`{"specialStatuses":null,"time":${world.state.now - lagMs}}`)
        },
      })),
    )
    world.state.now = 1_000_000
    return world
  }

  it('come last while a fresher one serves the type, and return when they have caught up', async () => {
    const lags: Record<string, number> = { node: 6_000, public: 100 }
    const { state, ask } = late(lags)
    expect(await ask('meta')).toMatchObject({ value: { text: '"node"' } })
    expect(await ask('meta')).toEqual(ok('"public"'))
    lags.node = 4_000
    state.now += 3_000
    await ask('meta')
    expect(await ask('meta')).toEqual(ok('"node"'))
  })

  it('are used without an alternative and when the fresher one fails; responses report their lag', async () => {
    const one = late({ node: 60_000 })
    await one.ask('meta')
    expect(await one.ask('meta')).toEqual({ ok: true, value: { text: '"node"', lagMs: 60_000 } })

    const two = late({ node: 60_000, public: 0 })
    await two.ask('meta')
    two.sources[1]!.health.record('meta', '', { kind: 'busy', restMs: 1_000 }, 0, two.state.now)
    expect(await two.ask('meta')).toEqual({ ok: true, value: { text: '"node"', lagMs: 60_000 } })
  })

  it('keep their order if all lag, because the exchange has stalled or our clock is wrong', async () => {
    const { ask } = late({ node: 90_000, public: 88_000 })
    await ask('meta')
    expect(await ask('meta')).toMatchObject({ value: { text: '"node"' } })
  })

  it('never include sources that do not report their clock', async () => {
    const { state, ask } = late({ node: null, public: 0 })
    for (let i = 0; i < 5; i++) {
      expect(await ask('meta')).toEqual(ok('"node"'))
      state.now += 10_000
    }
    expect(state.looks.filter((name) => name === 'node').length).toBe(1)
  })

  it('are checked at most every three seconds of traffic, one check at a time', async () => {
    const { state, upstream, ask } = late({ node: 0 })
    await Promise.all(Array.from({ length: 50 }, () => upstream.request('meta', '{"type":"meta"}')))
    expect(state.looks.length).toBe(1)
    state.now += 2_999
    await ask('meta')
    expect(state.looks.length).toBe(1)
    state.now += 1
    await ask('meta')
    expect(state.looks.length).toBe(2)
    state.now -= 900_000
    await ask('meta')
    expect(state.looks.length).toBe(3)
    state.now += 900_000
    await ask('meta')
    expect(state.looks.length).toBe(4)
    // Traffic that reveals the clock replaces a check.
    state.now += 2_000
    await upstream.request('exchangeStatus', '{"type":"exchangeStatus"}')
    const looks = state.looks.length
    state.now += 2_000
    await ask('meta')
    expect(state.looks.length).toBe(looks)
  })
})
