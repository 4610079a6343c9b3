// Responses of each query, byte for byte.

import { beforeEach, describe, expect, it } from 'vitest'
import { err, ok } from '../../src/core/result.ts'
import { CATALOGUE, queryOf } from '../../src/info/queries/catalogue.ts'
import { usesUpstream } from '../../src/info/query.ts'
import { BTC, createWorld, DEX_LIST, UPSTREAM_ANSWERS, USER, type World } from './answer/service-world.ts'

/** Types composed or extended by Weir; all others are passed through byte for byte. */
const COMPOSED = ['batchClearinghouseState', 'batchSpotClearinghouseState', 'portfolioState']
const PASSED = CATALOGUE.filter((query) => usesUpstream(query) && !COMPOSED.includes(query.type))

let world: World
beforeEach(() => {
  world = createWorld()
})
const bodyOf = async (request: object) => (await world.send(request)).body

describe('types served by an upstream', () => {
  it.each(PASSED.map(({ type, example }) => [type, example.request]))(
    '%s comes through byte for byte: unknown fields and values, and numbers as they are written',
    async (type, request) => {
      const body =
        ' {"status":"aStatusOfTomorrow", "px":1.50,"n":1E5,"big":123456789012345678901234567890,"é":"\\u00e9"}\n'
      world.upstream = () => ok(body)
      expect(await bodyOf({ type, ...request })).toBe(body)
    },
  )

  it('openOrders is passed through with a null cloid where the exchange omits it', async () => {
    const bare = JSON.parse(UPSTREAM_ANSWERS.openOrders!) as object[]
    expect(await bodyOf({ type: 'openOrders', user: USER })).toBe(
      JSON.stringify(bare.map((order) => ({ ...order, cloid: null }))),
    )
    const named = '[{"coin":"BTC","limitPx":"1.50","cloid":"0x01"}]'
    world.upstream = () => ok(named)
    expect(await bodyOf({ type: 'openOrders', user: USER, dex: 'xyz' })).toBe(named)
  })

  it('normalizes upstream requests: lower-case addresses, no nulls, extras or empty dex', async () => {
    await bodyOf({ dex: '', user: USER.replace('ab', 'AB'), type: 'openOrders', extra: 1 })
    await bodyOf({ type: 'openOrders', user: USER, dex: null })
    await bodyOf({ type: 'openOrders', user: USER, dex: 'xyz' })
    const main = `{"type":"openOrders","user":"${USER}"}`
    expect(world.asked).toEqual([main, main, DEX_LIST, `{"type":"openOrders","user":"${USER}","dex":"xyz"}`])
  })
})

describe('clearinghouseState of all DEXes', () => {
  it.each(['*', 'ALL_DEXES'])('%s returns a map of all states, for 10 credits', async (dex) => {
    const state = UPSTREAM_ANSWERS.clearinghouseState
    const reply = await world.send({ type: 'clearinghouseState', user: USER, dex })
    expect(reply.body).toBe(`{"native":${state},"xyz":${state},"flx":${state}}`)
    expect([world.charged, reply.headers['x-credits-cost']]).toEqual([[10_000_000], '10'])
  })

  it('caches the list of DEXes for two minutes', async () => {
    const lists = () => world.asked.filter((body) => body.includes('perpDexs')).length
    const ask = () => bodyOf({ type: 'clearinghouseState', user: USER, dex: '*' })
    await ask()
    world.now += 119_999
    await ask()
    expect(lists()).toBe(1)
    world.now += 1
    await ask()
    expect(lists()).toBe(2)
  })

  it.each(['clearinghouseState', 'portfolioState'])(
    '%s holds an error for a DEX that cannot be had, never a state, and fails uncharged where none can',
    async (type) => {
      const states = (body: string) => {
        const answer = JSON.parse(body)
        return type === 'portfolioState' ? answer.clearinghouseState : answer
      }
      world.upstream = (asked, body) =>
        body.includes('"flx"') ? err({ kind: 'upstream_timeout', source: 's' }) : ok(UPSTREAM_ANSWERS[asked]!)
      const reply = await world.send({ type, user: USER, dex: '*' })
      const state = JSON.parse(UPSTREAM_ANSWERS.clearinghouseState!)
      const flx = { error: 'upstream_error', dex: 'flx', message: expect.any(String) }
      expect(states(reply.body)).toEqual({ native: state, xyz: state, flx })
      queryOf(type)!.response().parse(JSON.parse(reply.body))
      expect([reply.status, world.charged]).toEqual([200, [10_000_000]])
      world.upstream = (asked) =>
        asked === 'clearinghouseState' ? err({ kind: 'upstream_timeout', source: 's' }) : ok(UPSTREAM_ANSWERS[asked]!)
      expect((await world.send({ type, user: USER, dex: 'ALL_DEXES' })).status).toBe(504)
      expect(world.charged.length).toBe(1)
    },
  )

  it('requests every DEX of the list, however long', async () => {
    const names = Array.from({ length: 300 }, (_, i) => `d${i}`)
    world.upstream = (type) =>
      ok(type === 'perpDexs' ? JSON.stringify([null, ...names.map((name) => ({ name }))]) : '{}')
    const reply = await world.send({ type: 'clearinghouseState', user: USER, dex: '*' })
    expect(Object.keys(JSON.parse(reply.body))).toEqual(['native', ...names])
  })

  it('fails if the list has an unknown form', async () => {
    world.upstream = () => ok('{"dexs":[]}')
    expect((await world.send({ type: 'clearinghouseState', user: USER, dex: '*' })).status).toBe(502)
  })
})

describe('books', () => {
  it('l2BookDiffSnapshot is the string from the hub with its position in the stream', async () => {
    expect(await bodyOf({ type: 'l2BookDiffSnapshot', coin: 'BTC' })).toBe(
      `{"coin":"BTC","time":1000,"height":42,"epoch":"${BTC.epoch}","seq":41,"levels":${BTC.levels}}`,
    )
  })

  it.each(['l2BookDiffSnapshot', 'l2Book'])('%s of an unknown coin is null, and charged', async (type) => {
    const reply = await world.send({ type, coin: 'NOPE' })
    expect([reply.status, reply.body, world.charged]).toEqual([200, 'null', [1_000_000]])
  })

  it('l2Book is the top of the book, also with explicit nulls', async () => {
    const body = await bodyOf({ type: 'l2Book', coin: 'BTC' })
    expect(body).toBe(`{"coin":"BTC","time":1000,"levels":${BTC.levels}}`)
    expect(await bodyOf({ type: 'l2Book', coin: 'BTC', nSigFigs: null, mantissa: null })).toBe(body)
    expect(world.bookCalls).toBe(1)
  })

  it('l2Book aggregates levels and adds the spread', async () => {
    expect(JSON.parse(await bodyOf({ type: 'l2Book', coin: 'BTC', nSigFigs: 4 }))).toEqual({
      coin: 'BTC',
      time: 1000,
      levels: [[{ px: '81300.0', sz: '2.0', n: 3 }], [{ px: '81310.0', sz: '0.25', n: 1 }]],
      spread: '2.0',
    })
  })

  it('l2Book accepts a mantissa only with nSigFigs 5, and 1 equals none', async () => {
    for (const request of [{ mantissa: 2 }, { nSigFigs: 4, mantissa: 1 }]) {
      const reply = await world.send({ type: 'l2Book', coin: 'BTC', ...request })
      expect([reply.status, JSON.parse(reply.body).msg]).toEqual([422, expect.stringMatching(/^mantissa: /)])
    }
    await bodyOf({ type: 'l2Book', coin: 'BTC', nSigFigs: 5, mantissa: 1 })
    await bodyOf({ type: 'l2Book', coin: 'BTC', nSigFigs: 5 })
    expect(world.bookCalls).toBe(1)
  })

  it('allMids is exact, sorted by name, includes spot and outcomes, and falls back to the last trade', async () => {
    expect(await bodyOf({ type: 'allMids' })).toBe(
      '{"#40":"0.55","@107":"10.5","BTC":"81308.0","DOGE":"0.069277","ETH":"1903.95"}',
    )
    expect(await bodyOf({ type: 'allMids', dex: 'xyz' })).toBe('{"xyz:GOLD":"2.25"}')
  })
})
