// Shared copies beyond an isolate's memory: two worlds with the same stores are two isolates of one gateway.

import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { After } from '../../../src/core/deadline.ts'
import { err, ok } from '../../../src/core/result.ts'
import {
  type AnswerStore,
  AnswerTiers,
  decodeStored,
  encodeStored,
  isWorthStoring,
} from '../../../src/info/answer/answer-tiers.ts'
import { termsOf } from '../../../src/info/freshness.ts'
import { createWorld, UPSTREAM_ANSWERS, type World } from './service-world.ts'

const META = { type: 'meta' }
const META_KEY = '{"type":"meta"}'
const VOTES = { type: 'validatorL1Votes' }
const MINUTE = 60_000
const FAILED = err({ kind: 'upstream_failed', source: 's' } as const)

class MapStore implements AnswerStore {
  readonly texts = new Map<string, string>()
  readonly seconds: number[] = []
  reads = 0
  async get(key: string) {
    this.reads++
    return this.texts.get(key) ?? null
  }
  async put(key: string, text: string, seconds: number) {
    this.texts.set(key, text)
    this.seconds.push(seconds)
  }
}

let region: MapStore
let network: MapStore
let warm: World
let cold: World
beforeEach(() => {
  region = new MapStore()
  network = new MapStore()
  warm = createWorld({ stores: { region, network } })
  cold = createWorld({ stores: { region, network } })
})

/** Sends a request and waits for all background work. */
async function send(world: World, body: object) {
  const reply = await world.send(body)
  for (let done = 0; done < world.work.length; ) {
    done = world.work.length
    await Promise.all(world.work)
  }
  return reply
}

describe('a new isolate', () => {
  it.each(['region', 'network'] as const)(
    'answers from the %s with an honest age, charged, without its source',
    async (tier) => {
      await send(warm, META)
      if (tier === 'network') region.texts.clear()
      cold.now = warm.now + 59_999
      cold.upstream = () => FAILED
      const reply = await send(cold, META)
      expect([reply.status, reply.body, reply.headers.age]).toEqual([200, UPSTREAM_ANSWERS.meta, '59'])
      expect([cold.asked, cold.charged]).toEqual([[], [1_000_000]])
      // The KV copy is now in the data center and in memory.
      expect(region.texts.has(META_KEY)).toBe(true)
      const reads = region.reads + network.reads
      expect((await send(cold, META)).status).toBe(200)
      expect(region.reads + network.reads).toBe(reads)
    },
  )

  it('serves a stale copy while it fetches a new one', async () => {
    await send(warm, META)
    cold.now = warm.now + MINUTE
    cold.upstream = () => ok('"new"')
    const stale = await send(cold, META)
    expect([stale.body, stale.headers.age]).toEqual([UPSTREAM_ANSWERS.meta, '60'])
    expect((await send(cold, META)).body).toBe('"new"')
    expect(cold.asked.length).toBe(1)
  })

  it('serves an older copy only if the source fails, and none beyond the limit', async () => {
    await send(warm, META)
    cold.now = warm.now + 30 * MINUTE
    const asked = await send(cold, META)
    expect([asked.headers.age, cold.asked.length]).toEqual([undefined, 1])
    const late = createWorld({ stores: { region, network } })
    late.upstream = () => FAILED
    late.now = cold.now + 60 * MINUTE - 1
    const spare = await send(late, META)
    expect([spare.status, spare.headers.age, late.charged.length]).toEqual([200, '3599', 1])
    const later = createWorld({ stores: { region, network } })
    later.upstream = () => FAILED
    later.now = cold.now + 60 * MINUTE
    expect([(await send(later, META)).status, later.charged]).toEqual([502, []])
  })

  describe('while spotMeta names a token that it does not list', () => {
    const SPOT = { type: 'spotMeta' }
    const listing = (...tokens: number[]) =>
      JSON.stringify({ universe: [{ tokens: [3, 0] }], tokens: tokens.map((index) => ({ index })) })
    const GOOD = listing(0, 3)
    const BAD = listing(0)
    const ask = async (world: World, at: number, source: string) => {
      world.now = at
      world.upstream = () => ok(source)
      const { body, headers } = await send(world, SPOT)
      return [body, headers.age]
    }

    it('serves the last one that does, as long as after a failure', async () => {
      expect(await ask(warm, 0, GOOD)).toEqual([GOOD, undefined])
      for (const minutes of [11, 30, 59]) {
        expect(await ask(warm, minutes * MINUTE, BAD)).toEqual([GOOD, `${minutes * 60}`])
        expect(await ask(cold, minutes * MINUTE + 1_000, BAD)).toEqual([GOOD, `${minutes * 60 + 1}`])
      }
      expect(await ask(cold, 61 * MINUTE, BAD)).toEqual([BAD, undefined])
      expect(await ask(cold, 73 * MINUTE, GOOD)).toEqual([GOOD, undefined])
    })

    it('serves it as it is if there is none, and shares it with nobody', async () => {
      expect(await ask(warm, 0, BAD)).toEqual([BAD, undefined])
      expect(await ask(warm, 1_000, GOOD)).toEqual([BAD, '1'])
      expect([region.texts.size, network.texts.size]).toEqual([0, 0])
      expect(await ask(cold, 1_000, GOOD)).toEqual([GOOD, undefined])
      expect(await ask(warm, 12 * MINUTE, BAD)).toEqual([GOOD, '719'])
    })

    it('serves prices of the last ten seconds at most', async () => {
      const askPrices = async (at: number, listed: string) => {
        warm.now = at
        warm.upstream = () => ok(`[${listed},[]]`)
        const { body, headers } = await send(warm, { type: 'spotMetaAndAssetCtxs' })
        return [body, headers.age]
      }
      expect(await askPrices(0, GOOD)).toEqual([`[${GOOD},[]]`, undefined])
      for (const seconds of [2, 5, 9])
        expect(await askPrices(seconds * 1_000, BAD)).toEqual([`[${GOOD},[]]`, `${seconds}`])
      expect(await askPrices(11_000, BAD)).toEqual([`[${BAD},[]]`, undefined])
      expect(await askPrices(13_000, GOOD)).toEqual([`[${GOOD},[]]`, undefined])
    })
  })

  it('shares one lookup between concurrent requests', async () => {
    await send(warm, META)
    cold.now = warm.now
    const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => cold.send({ ...META, [`x${i}`]: i })))
    expect(new Set(replies.map(({ status, headers }) => `${status} ${headers.age}`))).toEqual(new Set(['200 0']))
    expect([region.reads, network.reads, cold.asked.length]).toEqual([2, 1, 0])
  })

  it('does not use the stores for user state or current state', async () => {
    const user = `0x${'ab'.repeat(20)}`
    const bodies = [
      { type: 'clearinghouseState', user },
      { type: 'openOrders', user },
      { type: 'l2Book', coin: 'BTC' },
      { type: 'allMids' },
      { type: 'l2BookDiffSnapshot', coin: 'BTC' },
      { type: 'exchangeStatus' },
      { type: 'metaAndAssetCtxs' },
    ]
    for (const body of bodies) expect((await send(warm, body)).status).toBe(200)
    expect([region.reads, network.reads, region.texts.size, network.texts.size]).toEqual([0, 0, 0, 0])
  })

  it('stores slowly changing data only in the data center', async () => {
    await send(warm, VOTES)
    expect([region.texts.size, network.texts.size, region.seconds]).toEqual([1, 0, [60]])
    cold.now = warm.now + 9_999
    expect([(await send(cold, VOTES)).headers.age, cold.asked]).toEqual(['9', []])
  })
})

describe('a broken store counts as empty', () => {
  const BROKEN: readonly (readonly [string, AnswerStore])[] = [
    ['fails', { get: () => Promise.reject(new Error('KV is down')), put: () => Promise.reject(new Error('429')) }],
    [
      'throws',
      {
        get: () => {
          throw new Error('no cache here')
        },
        put: () => {
          throw new Error('no cache here')
        },
      },
    ],
    ['does nothing', { get: async () => null, put: async () => {} }],
  ]
  it.each(BROKEN)('one that %s', async (_, broken) => {
    const world = createWorld({ stores: { region: broken, network: broken } })
    expect([(await send(world, META)).status, world.charged.length, world.reported]).toEqual([200, 1, []])
  })

  it('a hanging store times out', async () => {
    const after: After = (_, run) => {
      setImmediate(run)
      return () => {}
    }
    const hanging: AnswerStore = { get: () => new Promise(() => {}), put: () => new Promise(() => {}) }
    const tiers = new AnswerTiers({ stores: { region: hanging, network }, now: () => 5, after })
    network.texts.set('k', encodeStored('k', { body: '[]', at: 5 }))
    expect(await tiers.find('k', termsOf({ class: 'fixed' }), () => {})).toMatchObject({ body: '[]', at: 5 })
  })

  const entry = { body: '{"x":1}', at: 1_000_000 }
  const head = (more: object) => JSON.stringify({ v: 1, key: META_KEY, at: entry.at, length: 7, ...more })
  it.each([
    ['nothing', ''],
    ['garbage', '\u0000\ufffd garbage'],
    ['a body alone', '{"x":1}'],
    ['a body cut short', encodeStored(META_KEY, entry).slice(0, -1)],
    ['a body that is not JSON', `${head({})}\n{"x":1]`],
    ['another request', encodeStored('{"type":"spotMeta"}', entry)],
    ['the future', encodeStored(META_KEY, { ...entry, at: entry.at + 10_000_000 })],
    ['another version', `${head({ v: 2 })}\n{"x":1}`],
    ['no age', `${head({ at: 'now' })}\n{"x":1}`],
    ['a list of ages', `${head({ at: [1] })}\n{"x":1}`],
  ])('one with %s', async (_, text) => {
    network.texts.set(META_KEY, text)
    region.texts.set(META_KEY, text)
    const reply = await send(cold, META)
    expect([reply.status, reply.body, cold.asked.length]).toEqual([200, UPSTREAM_ANSWERS.meta, 1])
    // The valid response replaced it.
    expect(decodeStored(META_KEY, network.texts.get(META_KEY)!, cold.now)?.body).toBe(UPSTREAM_ANSWERS.meta)
  })

  it('reads its own entries and rejects modified ones', () => {
    const body = fc.json().map((text) => JSON.stringify(JSON.parse(text)))
    fc.assert(
      fc.property(body, fc.nat(), fc.nat(), fc.option(fc.nat(), { nil: undefined }), (text, at, later, height) => {
        const answer = { body: text, at, ...(height === undefined ? {} : { height }) }
        const stored = encodeStored('k', answer)
        expect(decodeStored('k', stored, at + later)).toEqual(answer)
        for (const cut of [1, Math.floor(stored.length / 2), stored.length - 1])
          expect(decodeStored('k', stored.slice(0, cut), at + later)).toBeNull()
      }),
    )
  })
})

describe('writes to KV', () => {
  const texts = () => [...network.texts.values()]

  it('are skipped for an unchanged body, except to confirm a copy after five minutes', async () => {
    await send(warm, META)
    for (let minute = 1; minute < 5; minute++) {
      warm.now += MINUTE
      await send(warm, META)
    }
    expect([warm.asked.length, network.seconds.length]).toEqual([5, 1])
    warm.now += MINUTE
    await send(warm, META)
    expect([warm.asked.length, network.seconds]).toEqual([6, [3600, 3600]])
    expect(decodeStored(META_KEY, texts()[0]!, warm.now)?.at).toBe(warm.now)
  })

  it('follow a changed body, and respect writes of other isolates', async () => {
    await send(warm, META)
    cold.now = warm.now + MINUTE
    await send(cold, META)
    expect([cold.asked.length, network.seconds.length]).toEqual([1, 1])
    cold.now += MINUTE
    cold.upstream = () => ok('"new"')
    await send(cold, META)
    expect(decodeStored(META_KEY, texts()[0]!, cold.now)?.body).toBe('"new"')
  })

  it('happen at most once per second per key', () => {
    const stored = { at: 10_000, body: 'a' }
    expect(isWorthStoring('a', undefined, 10_000)).toBe(true)
    expect(isWorthStoring('b', stored, 10_999)).toBe(false)
    expect(isWorthStoring('b', stored, 11_000)).toBe(true)
    expect(isWorthStoring('a', stored, 309_999)).toBe(false)
    expect(isWorthStoring('a', stored, 310_000)).toBe(true)
  })

  it('are limited in total, and skipped ones happen later', async () => {
    for (let id = 0; id < 50; id++) await send(warm, { type: 'marginTable', id })
    expect(network.texts.size).toBe(2)
    warm.now += MINUTE
    await send(warm, { type: 'marginTable', id: 49 })
    expect(network.texts.size).toBe(3)
  })
})

describe('a source that fails', () => {
  it('is retried once per second per key while a copy can be served', async () => {
    await send(warm, META)
    warm.asked.length = 0
    warm.upstream = () => FAILED
    warm.now += 20 * MINUTE
    for (let i = 0; i < 10; i++) {
      const replies = await Promise.all(Array.from({ length: 10 }, () => warm.send(META)))
      expect(new Set(replies.map(({ status, headers }) => `${status} ${headers.age}`))).toEqual(new Set(['200 1200']))
    }
    expect(warm.asked.length).toBe(1)
    warm.now += 1_000
    warm.upstream = () => ok('"new"')
    expect((await send(warm, META)).body).toBe('"new"')
  })

  it.each([
    ['prices for ten seconds', { type: 'metaAndAssetCtxs' }, 10_000],
    ['candles for ten seconds', { type: 'candleSnapshot', req: { coin: 'BTC', interval: '1m', startTime: 1 } }, 10_000],
    ['votes for a minute', VOTES, MINUTE],
    ['listings for an hour', META, 60 * MINUTE],
    ['a clock never', { type: 'exchangeStatus' }, 500],
    ['a user never', { type: 'clearinghouseState', user: `0x${'ab'.repeat(20)}` }, 0],
  ])('leaves us %s', async (_, body, boundMs) => {
    await send(warm, body)
    warm.upstream = () => FAILED
    const first = warm.now
    const lastMs = Math.max(0, boundMs - 1)
    warm.now = first + lastMs
    const { status, headers } = await send(warm, body)
    expect([status, headers.age]).toEqual(boundMs > 0 ? [200, String(Math.floor(lastMs / 1000))] : [502, undefined])
    warm.now = first + boundMs
    expect((await send(warm, body)).status).toBe(502)
  })
})
