// No frame of the log or of a hub waits for a write: blocks and checkpoints are put unconfirmed, and no table is written.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { CheckpointStore } from '../../src/book/checkpoint.store.ts'
import { shardOf } from '../../src/core/coin.ts'
import type { Levels } from '../../src/feed/block.ts'
import { SegmentStore } from '../../src/feed/segment.store.ts'
import { FakeFeeder, levelsOf } from './fake-feeder.worker.ts'

const log = () => env.BLOCK_LOG.getByName(env.CHAIN)
const hub = () => env.BOOK_HUB.getByName(`${env.CHAIN}/${shardOf('BTC', Number(env.BOOK_HUBS))}`)

/** Notes from here on what is written through an object's storage. */
async function watched(stub: DurableObjectStub): Promise<{ puts: unknown[]; tables: string[] }> {
  const seen = { puts: [] as unknown[], tables: [] as string[] }
  await runInDurableObject(stub, (_, { storage }) => {
    const { put, sql } = storage
    const exec = sql.exec.bind(sql)
    storage.put = ((...args: Parameters<typeof put>) => {
      seen.puts.push(args.at(-1))
      return put.apply(storage, args)
    }) as typeof put
    sql.exec = ((query: string, ...rest: unknown[]) => {
      if (!query.startsWith('SELECT')) seen.tables.push(query)
      return exec(query, ...rest)
    }) as typeof exec
  })
  return seen
}

// FEED-10
it('blocks and checkpoints hold no frame back, and are acknowledged', async () => {
  const feeder = await FakeFeeder.connect()
  feeder.hello(1, 1)
  await feeder.next('welcome')
  feeder.snapshot(1, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
  await feeder.acked(1)
  const [ofLog, ofHub] = [await watched(log()), await watched(hub())]
  let height = 1
  await vi.waitFor(
    async () => {
      feeder.block(++height, [{ coin: 'BTC', levels: levelsOf(['100', `${height}.0`, 1]) }])
      await feeder.acked(height)
      expect(ofHub.puts.length).toBeGreaterThan(0)
    },
    { timeout: 60_000, interval: 20 },
  )
  expect(ofLog.puts.length).toBeGreaterThan(0)
  for (const options of [...ofLog.puts, ...ofHub.puts]) expect(options).toEqual({ allowUnconfirmed: true })
  expect([ofLog.tables, ofHub.tables]).toEqual([[], []])
  feeder.close()
})

it('what 0.1.0 kept in tables is moved to keys once, and its tables are left empty', async () => {
  await runInDurableObject(env.BLOCK_LOG.getByName('moved'), (_, { storage }) => {
    storage.kv.delete('log')
    const chain = { epoch: 'e', height: 9, booksKnown: true }
    storage.sql.exec(`INSERT OR REPLACE INTO meta VALUES ('chain', ?)`, JSON.stringify(chain))
    const row = `INSERT INTO segments VALUES (?, 8, ?, 9, 630, ?)`
    const lines = ['{"height":8}', '{"height":9}']
    const encoded = new TextEncoder().encode(lines.join('\n'))
    storage.sql.exec(row, 'books', 0, encoded.slice(0, 5))
    storage.sql.exec(row, 'books', 1, encoded.slice(5))
    storage.sql.exec(row, 'events', 0, encoded)
    for (const store of [new SegmentStore(storage), new SegmentStore(storage)]) {
      expect([store.chain, store.newest()]).toEqual([chain, { height: 9, time: 630 }])
      for (const kind of ['books', 'events'] as const) expect(store.segmentWith(kind, 9)).toEqual(lines)
    }
    expect(storage.sql.exec('SELECT COUNT(*) AS n FROM segments').one().n).toBe(0)
  })
  await runInDurableObject(env.BOOK_HUB.getByName('moved/0'), (_, { storage }) => {
    const stamp = { shards: 4, index: 0, epoch: 'e', seedHeight: 3 }
    const checkpoint = { coin: 'a/b', epoch: 'e', height: 9, time: 1, seq: 5, lastPx: null, levels: [[], []] as Levels }
    const encoded = new TextEncoder().encode(JSON.stringify(checkpoint))
    storage.sql.exec(`INSERT INTO meta VALUES ('stamp', ?)`, JSON.stringify(stamp))
    storage.sql.exec(
      `INSERT INTO checkpoints VALUES ('a/b', 0, ?), ('a/b', 1, ?)`,
      encoded.slice(0, 9),
      encoded.slice(9),
    )
    for (const store of [new CheckpointStore(storage), new CheckpointStore(storage)])
      expect([store.stamp(), store.load()]).toEqual([stamp, [checkpoint]])
    const store = new CheckpointStore(storage)
    expect(store.load()).toHaveLength(1)
    store.drop(['a/b'])
    expect(new CheckpointStore(storage).load()).toEqual([])
  })
})
