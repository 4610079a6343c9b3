import { describe, expect, it } from 'vitest'
import type { Sent } from '../../src/upstream/outcome.ts'
import { RoutedUpstream } from '../../src/upstream/routed-upstream.ts'

const answer = (text: string): Sent => ({ status: 200, retryAfter: null, text })
const status = (code: number, retryAfter: string | null = null): Sent => ({ status: code, retryAfter, text: 'x' })
const NODE = { name: 'node', url: 'http://node', types: ['meta', 'openOrders'] }
const PUBLIC = { name: 'public', url: 'http://public' }

/** An upstream over sources that answer what `replies` says, by URL; remembers every request and pause. */
function world(replies: Record<string, () => Sent>, sources = [NODE, PUBLIC]) {
  const state = { now: 0, sent: [] as string[], slept: [] as number[], random: 0.5 }
  const upstream = new RoutedUpstream({
    sources,
    send: async (url, body) => {
      state.sent.push(`${url} ${body}`)
      return replies[url]!()
    },
    now: () => state.now,
    random: () => state.random,
    sleep: async (ms) => {
      state.slept.push(ms)
    },
  })
  return { state, upstream }
}

describe('RoutedUpstream', () => {
  it('asks the first source of the type and gives its text back unchanged', async () => {
    const { state, upstream } = world({ 'http://node': () => answer('{"a": 1.0}') })
    expect(await upstream.ask('meta', '{"type":"meta"}')).toEqual({ ok: true, value: '{"a": 1.0}' })
    expect(state.sent).toEqual(['http://node {"type":"meta"}'])
  })

  it('repeats a failure once with full jitter', async () => {
    const replies = [status(500), answer('[]')]
    const { state, upstream } = world({ 'http://node': () => replies.shift()! })
    expect(await upstream.ask('meta', '{}')).toEqual({ ok: true, value: '[]' })
    expect(state.sent.length).toBe(2)
    expect(state.slept).toEqual([50])
  })

  it('goes on to the next source: after two failures, after silence at once, after 429 at once', async () => {
    for (const [failure, attempts] of [
      [status(500), 2],
      [{ failed: 'timeout' } as Sent, 1],
      [status(429), 1],
      [status(422), 1],
    ] as const) {
      const { state, upstream } = world({ 'http://node': () => failure, 'http://public': () => answer('1') })
      expect(await upstream.ask('meta', '{}')).toEqual({ ok: true, value: '1' })
      expect(state.sent.length).toBe(attempts + 1)
    }
  })

  it.each([
    [answer('{"cut":'), { kind: 'upstream_failed', source: 'public' }],
    [{ failed: 'timeout' } as Sent, { kind: 'upstream_timeout', source: 'public' }],
    [status(429, '7'), { kind: 'unavailable', retryAfterMs: 7_000 }],
    [status(422), { kind: 'bad_field' }],
  ])('says what went wrong at the last source: %j', async (sent, failure) => {
    const { upstream } = world({ 'http://public': () => sent })
    const result = await upstream.ask('userFees', '{}')
    expect(result).toMatchObject({ ok: false, error: failure })
  })

  it('has no source for a type that none serves', async () => {
    const { state, upstream } = world({}, [NODE])
    expect(await upstream.ask('userFees', '{}')).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
    expect(state.sent).toEqual([])
  })

  it('leaves a source alone that is away, for every type, and comes back by itself', async () => {
    let away = true
    const { state, upstream } = world({ 'http://node': () => (away ? { failed: 'unreachable' } : answer('1')) }, [NODE])
    for (let i = 0; i < 5; i++) await upstream.ask('meta', '{}')
    expect(state.sent.length).toBe(5)
    const refused = await upstream.ask('openOrders', '{}')
    expect(refused).toMatchObject({ ok: false, error: { kind: 'unavailable', retryAfterMs: 1_000 } })
    expect(state.sent.length).toBe(5)
    away = false
    state.now = 1_000
    expect(await upstream.ask('openOrders', '{}')).toEqual({ ok: true, value: '1' })
    expect(await upstream.ask('meta', '{}')).toEqual({ ok: true, value: '1' })
  })

  it('leaves a source alone for the one type at which it fails', async () => {
    let broken = 'meta'
    const { state, upstream } = world({ 'http://node': () => (broken === 'meta' ? status(500) : answer('1')) }, [NODE])
    for (let i = 0; i < 4; i++) await upstream.ask('meta', '{}')
    const sent = state.sent.length
    expect(await upstream.ask('meta', '{}')).toMatchObject({ error: { kind: 'unavailable' } })
    expect(state.sent.length).toBe(sent)
    broken = ''
    expect(await upstream.ask('openOrders', '{}')).toEqual({ ok: true, value: '1' })
  })

  it('asks nothing of a source that rests, and never opens the breaker for refusals', async () => {
    let reply = status(429, '3')
    const { state, upstream } = world({ 'http://node': () => reply }, [NODE])
    await upstream.ask('meta', '{}')
    await upstream.ask('meta', '{}')
    expect(state.sent.length).toBe(1)
    state.now = 3_000
    reply = status(422)
    for (let i = 0; i < 20; i++) await upstream.ask('meta', '{}')
    expect(state.sent.length).toBe(21)
  })
})
