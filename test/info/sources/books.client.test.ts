import { expect, it } from 'vitest'
import { shardOf } from '../../../src/core/coin.ts'
import { hubBooks } from '../../../src/info/sources/books.client.ts'
import { type BookHubApi, HUB_API_VERSION } from '../../../src/protocol/hub/hub-api.ts'
import { BTC } from '../answer/service-world.ts'

type Hub = Pick<BookHubApi, 'snapshot' | 'tops'>
const v = HUB_API_VERSION
const top = (coin: string) => ({ coin, bidPx: '1', askPx: '2', lastPx: null })
const healthy = (index: number): Hub => ({
  snapshot: async (coin) =>
    coin === 'BTC' ? { v, ok: true, snapshot: BTC } : { v, ok: false, reason: 'unknown_coin' },
  tops: async () => ({ v, height: 100 - index, time: 1, tops: [top(`C${index}`)] }),
})

it('calls the shard of the coin, and all shards for best prices', async () => {
  const asked: number[] = []
  const books = hubBooks({
    shards: 4,
    hub: (index) => {
      asked.push(index)
      return healthy(index)
    },
  })
  expect(await books.snapshot('BTC')).toEqual({ ok: true, value: BTC })
  expect(asked).toEqual([shardOf('BTC', 4)])
  expect(await books.snapshot('NOPE')).toEqual({ ok: true, value: null })
  expect(await books.tops()).toEqual({
    ok: true,
    value: { height: 97, tops: ['C0', 'C1', 'C2', 'C3'].map(top) },
  })
})

const unavailable = { ok: false, error: { kind: 'unavailable', retryAfterMs: 1_000 } }

it.each<[string, Partial<Hub>]>([
  ['waits for a seed', { snapshot: async () => ({ v, ok: false, reason: 'not_ready' }), tops: async () => null }],
  ['is away', { snapshot: () => Promise.reject(new Error('reset')), tops: () => Promise.reject(new Error('reset')) }],
  [
    'speaks a later version',
    {
      snapshot: async () => ({ v: v + 1, ok: true, snapshot: BTC }),
      tops: async () => ({ v: v + 1, height: 1, time: 1, tops: [] }),
    },
  ],
])('is unavailable if one hub %s', async (_, broken) => {
  const books = hubBooks({
    shards: 2,
    hub: (index) => ({ ...healthy(index), ...(index === shardOf('BTC', 2) ? broken : {}) }),
  })
  expect(await books.snapshot('BTC')).toMatchObject(unavailable)
  expect(await books.tops()).toMatchObject(unavailable)
})

it('retries a hub that was just restarted', async () => {
  let calls = 0
  const snapshot: Hub['snapshot'] = async (coin) => {
    if (calls++ === 0) throw new Error('restarted')
    return healthy(0).snapshot(coin)
  }
  expect(await hubBooks({ shards: 1, hub: () => ({ ...healthy(0), snapshot }) }).snapshot('BTC')).toMatchObject({
    ok: true,
  })
})
