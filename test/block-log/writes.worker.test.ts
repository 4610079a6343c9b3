// No frame of the log or of a hub waits for a write: blocks and checkpoints are stored unconfirmed, and no table is written.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import type { OrderInterests } from '../../src/block-log/order-interests.do.ts'
import { PipelineService } from '../../src/block-log/pipeline-service.do.ts'
import type { RetainedBlocks } from '../../src/block-log/retained-blocks.do.ts'
import { SegmentStore } from '../../src/block-log/segment.store.ts'
import { FakeFeeder, hub, levelsOf, log } from './fake-feeder.worker.ts'

/** Records every later write to an object's storage. */
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
it('writes of blocks and checkpoints delay no frame, and blocks are acknowledged', async () => {
  const feeder = await FakeFeeder.connect()
  feeder.hello(1, 1)
  await feeder.next('welcome')
  feeder.snapshot(1, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
  await feeder.acked(1)
  const ofLog = await watched(log())
  const ofHub = await watched(hub('BTC'))
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

// FEED-10
it('blocks that storage lost are not acknowledged: the log restarts from storage and gets them again', async () => {
  const height = 2000
  await log().reset()
  const before = await FakeFeeder.connect()
  before.hello(height, height)
  await before.next('welcome')
  before.snapshot(height, [])
  before.block(height + 1, [])
  await before.acked(height + 1)
  await runInDurableObject(log(), (_, { storage }) => {
    storage.put = () => Promise.reject(new Error('database or disk is full'))
  })
  before.block(height + 2, [])
  expect(await before.closed).not.toBe(1000)
  expect(before.heard.filter((type) => type === 'ack').length).toBeLessThan(3)
  const after = await FakeFeeder.connect()
  after.hello(height, height + 2)
  expect(await after.next('welcome')).toMatchObject({ height: height + 1 })
  after.block(height + 2, [])
  await after.acked(height + 2)
  after.close()
})

/** Keys of rows that are put from here on and not deleted. Listing them would read them. */
function rowKeys(storage: DurableObjectStorage): () => string[] {
  const keys = new Set<string>()
  const put = storage.put.bind(storage) as (...args: unknown[]) => Promise<void>
  const remove = storage.delete.bind(storage) as (...args: unknown[]) => Promise<number>
  storage.put = ((values: object, options: unknown) => {
    for (const key of Object.keys(values)) if (key.startsWith('l4/')) keys.add(key)
    return put(values, options)
  }) as typeof storage.put
  storage.delete = ((gone: string[], options: unknown) => {
    for (const key of gone) keys.delete(key)
    return remove(gone, options)
  }) as typeof storage.delete
  return () => [...keys]
}

describe('stored segments', () => {
  it('are bounded whatever the block times', async () => {
    await runInDurableObject(env.BLOCK_LOG.getByName('bounded'), async (_, { storage }) => {
      const store = new SegmentStore(storage)
      const chain = { epoch: null, height: 1, booksKnown: false }
      const lines = { books: '{}', events: '{"height":1,"time":0}', orders: '[]' }
      for (let first = 0; first < 1300; first++)
        store.save({ first, last: first, time: 0, lines }, { chain, time: 0, repaired: [] }, -300_000)
      await store.untilDurable()
      for (const prefix of ['events/', 'orders/']) expect([...storage.kv.list({ prefix })]).toHaveLength(1200)
      expect([store.segmentWith('events', 99), store.segmentWith('events', 100)]).toEqual([null, [lines.events]])
    })
  })

  it('have their rows stored one piece per turn; lost rows read as unknown', async () => {
    await runInDurableObject(env.BLOCK_LOG.getByName('rows'), async (_, { storage }) => {
      const store = new SegmentStore(storage)
      const place = { chain: { epoch: null, height: 1, booksKnown: false }, time: 0, repaired: [] }
      const l4 = `BTC\t${'ä😀'.repeat(800_000)}\nBTC\t`
      const keys = rowKeys(storage)
      const save = (first: number) => store.save({ first, last: first + 1, time: 0, lines: { l4 } }, place, -300_000)
      save(1)
      expect([keys(), store.segmentWith('l4', 2)]).toEqual([[], l4.split('\n')])
      expect([store.storeRows(), keys()]).toEqual([true, ['l4/1/0']])
      const woken = () => new SegmentStore(storage).segmentWith('l4', 2)
      expect([store.segmentWith('l4', 2), woken()]).toEqual([l4.split('\n'), ['']])
      while (store.storeRows());
      expect([store.segmentWith('l4', 2), woken(), keys().length]).toEqual([l4.split('\n'), l4.split('\n'), 5])
      // The number of waiting entries is bounded.
      for (let first = 3; first < 63; first += 2) save(first)
      expect(keys().length).toBeGreaterThan(5 * 16)
      await store.untilDurable()
    })
  })

  it('drop rows first: after two minutes, or beyond 256 MiB', async () => {
    await runInDurableObject(env.BLOCK_LOG.getByName('fewer-rows'), async (_, { storage }) => {
      const store = new SegmentStore(storage)
      const place = { chain: { epoch: null, height: 1, booksKnown: false }, time: 0, repaired: [] }
      const lines = { events: '{}', l4: 'BTC\t' }
      const keys = rowKeys(storage)
      const save = (first: number, timeMs: number, l4 = lines.l4) => {
        store.save({ first, last: first, time: timeMs, lines: { ...lines, l4 } }, place, timeMs - 300_000)
        while (store.storeRows());
      }
      const rowsAt = (height: number) => store.segmentWith('l4', height)
      save(1, 0)
      save(2, 1)
      save(3, 120_001)
      expect([[1, 2, 3].map(rowsAt), keys()]).toEqual([
        [[''], [lines.l4], [lines.l4]],
        ['l4/2/0', 'l4/3/0'],
      ])
      expect(store.segmentWith('events', 1)).toEqual(['{}'])
      for (let n = 0; n < 511; n++) save(4 + n, 120_001)
      expect([[2, 3, 4].map(rowsAt), keys().length]).toEqual([[[''], [lines.l4], [lines.l4]], 512])
      save(600, 120_001, 'x'.repeat(3 * 512 * 1024))
      expect([5, 6].map(rowsAt)).toEqual([[''], [lines.l4]])
      expect(keys().length).toBe(512)
      await store.untilDurable()
    })
  })

  it('are kept after a block with a time in the far future', async () => {
    await log().reset()
    const feeder = await FakeFeeder.connect()
    feeder.hello(3000, 3000)
    await feeder.next('welcome')
    feeder.snapshot(3000, [])
    feeder.block(3001, [], { time: Date.now() })
    await feeder.acked(3001)
    feeder.block(3002, [], { time: Number.MAX_SAFE_INTEGER })
    await feeder.acked(3002)
    await runInDurableObject(log(), (_, { storage }) => {
      expect(new SegmentStore(storage).segmentWith('events', 3001)).not.toBeNull()
    })
    feeder.close()
  })
})

// Pipelines share a budget for the log's reads.
it('pipelines read only the lines they request, and every read counts', () => {
  const asked: unknown[] = []
  const bytes = (size: number) => [new Uint8Array(size)]
  const held = {
    archivePage: (from: number | null, only: unknown) => {
      asked.push(only)
      const part = { first: 1, last: 1, books: [], events: bytes(1) }
      return { head: null, parts: from === null ? [] : [part] }
    },
    backlog: { lookUp: () => ['x'.repeat(16 * 1024 * 1024)] },
    chain: { height: 1 },
  }
  const interests = {
    onAttached: () => undefined,
    onLeft: () => undefined,
    notifyFeeders: () => undefined,
    areSent: () => true,
  }
  const service = new PipelineService(
    held as unknown as RetainedBlocks,
    interests as unknown as OrderInterests,
    async () => ({ isNeeded: false, againMs: null }),
  )
  const page = (more: object) => service.page({ v: 1, reader: 'a', from: 1, kind: 'events', ...more }, 0)
  expect(page({ kind: 'books' }).retryMs).toBeUndefined()
  expect(page({ orders: ['0x1'] }).parts).toHaveLength(1)
  expect(page({}).retryMs).toBe(1_000)
  expect(asked).toEqual(['books', 'events', 'events'])
})
