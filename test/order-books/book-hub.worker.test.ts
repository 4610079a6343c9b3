// A log that never completes a call: hubs time out, answer their callers, and recover together with the log.

import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { shardOf } from '../../src/core/coin.ts'
import { Objects, shardOfHub } from '../../src/core/objects.client.ts'
import { hubBooks } from '../../src/info/sources/books.client.ts'
import { BlockLog } from '../../src/live.ts'
import { LINK_HEADER } from '../../src/protocol/feed/log-api.ts'

const HOUR = 3_600_000
const hub = () => env.BOOK_HUB.getByName('hung/0')
afterEach(() => vi.restoreAllMocks())

it('a hub times out when the log is silent, and attaches once the log answers', async () => {
  const attach = vi.spyOn(BlockLog.prototype, 'attach').mockImplementation(async () => {
    await scheduler.wait(HOUR)
    throw new Error('an hour has passed')
  })
  const failed = await hub()
    .wake()
    .catch((error: Error) => error.message)
  expect(failed).toBe('no answer within 4000 ms')
  // The first status request to a log also wakes the other hubs.
  expect(attach.mock.calls.filter(([{ name }]) => name === 'hung/0')).toHaveLength(1)
  attach.mockRestore()
  await hub().wake()
  const log = await env.BLOCK_LOG.getByName(env.CHAIN).status()
  expect(log.readers.map(({ name }) => name)).toContain('hung/0')
})

it('the dial of a timed-out attempt is rejected, because it is unknown where its frames begin', async () => {
  await hub().wake()
  const headers = { upgrade: 'websocket', [LINK_HEADER]: JSON.stringify({ v: 1, from: 'log', index: 0 }) }
  expect((await hub().fetch('http://reader/link', { headers })).status).toBe(409)
})

const shards = Number(env.BOOK_HUBS)
const objects = new Objects(env, { CHAIN: 'shards', FEED_REGION: null })

it('a hub beyond the number of shards fails, so that nobody pays for its answer', async () => {
  for (const index of [shards, shards + 1, -1, 0.5]) {
    const refused = await objects
      .hub(index)
      .snapshot('BTC')
      .catch((error: Error) => error.message)
    expect(refused).toContain(`shards/${index} does not exist`)
  }
  // A gateway configured with more shards than exist asks such a hub for half of the coins.
  const books = hubBooks({ shards: 1, hub: () => objects.hub(shards) })
  expect(await books.snapshot('BTC')).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  expect(await books.tops()).toMatchObject({ ok: false, error: { kind: 'unavailable' } })
  expect(await objects.hub(shards - 1).wake()).toBeUndefined()
})

it('a hub rejects a coin of another shard', async () => {
  const own = shardOf('BTC', shards)
  expect(await objects.hub(own).snapshot('BTC')).toMatchObject({ ok: false, reason: 'not_ready' })
  const index = (own + 1) % shards
  const refused = await objects
    .hub(index)
    .snapshot('BTC')
    .catch((error: Error) => error.message)
  expect(refused).toContain(`BOOK_HUBS is ${shards}`)
})

it('a hub knows its shard by its name', () => {
  expect(['x/0', 'a/b/12'].map(shardOfHub)).toEqual([0, 12])
  for (const name of ['x', 'x/', 'x/1a', 'x/-1', '3']) expect(shardOfHub(name), name).toBeNaN()
})
