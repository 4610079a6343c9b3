import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { shardOf } from '../../src/core/coin.ts'
import { Objects, shardOfHub } from '../../src/core/objects.client.ts'
import { hubBooks } from '../../src/info/sources/books.client.ts'

const shards = Number(env.BOOK_HUBS)
const objects = new Objects(env, { CHAIN: 'shards', FEED_REGION: null })

it('a hub of no shard refuses, so that nobody pays for its answer', async () => {
  for (const index of [shards, shards + 1, -1, 0.5]) {
    const refused = await objects
      .hub(index)
      .snapshot('BTC')
      .catch((error: Error) => error.message)
    expect(refused).toBe(`hub shards/${index} is of no shard: BOOK_HUBS is ${shards} here`)
  }
  // A gateway that believes in more shards than there are asks such a hub for half of the coins.
  const books = hubBooks({ shards: 1, hub: () => objects.hub(shards) })
  expect(await books.snapshot('BTC')).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  expect(await books.tops()).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  expect(await objects.hub(shards - 1).wake()).toBeUndefined()
})

it('a hub refuses a coin of another shard, which it would know for sure not to have', async () => {
  const own = shardOf('BTC', shards)
  expect(await objects.hub(own).snapshot('BTC')).toMatchObject({ ok: false, reason: 'not_ready' })
  const index = (own + 1) % shards
  const refused = await objects
    .hub(index)
    .snapshot('BTC')
    .catch((error: Error) => error.message)
  expect(refused).toBe(`hub shards/${index} is of another shard than this coin: BOOK_HUBS is ${shards} here`)
})

it('a hub knows its shard by its name', () => {
  expect(['x/0', 'a/b/12'].map(shardOfHub)).toEqual([0, 12])
  for (const name of ['x', 'x/', 'x/1a', 'x/-1', '3']) expect(shardOfHub(name), name).toBeNaN()
})
