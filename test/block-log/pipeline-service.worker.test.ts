// Order-status subscriptions of pipelines in the block log: a status that feeders were not asked for is not reported as known.

import { expect, it, vi } from 'vitest'
import { OrderInterests } from '../../src/block-log/order-interests.do.ts'
import { PipelineService } from '../../src/block-log/pipeline-service.do.ts'
import type { RetainedBlocks } from '../../src/block-log/retained-blocks.do.ts'
import { WATCHED_WALLETS_MAX, type WantFrame } from '../../src/protocol/feed/protocol.ts'

const wallets = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `0x${(from + at).toString(16).padStart(40, '0')}`)

// FEED-40
it('feeders are asked for signed actions until no pipeline has repeated its request for half a minute', async () => {
  vi.useFakeTimers()
  const frames: WantFrame[] = []
  const wants = new OrderInterests((frame) => frames.push(frame), 0)
  const told = async () => {
    await vi.advanceTimersByTimeAsync(300)
    return frames.splice(0).flatMap(({ extras }) => (extras ? [extras.join()] : []))
  }
  const all = 'oracle,writer,replica'
  wants.requestPart('one', 'replica', 0)
  wants.requestPart('two', 'replica', 10_000)
  expect(await told()).toEqual([all])
  wants.tick(31_000)
  expect(await told(), 'everything, half a minute after the start').toEqual([all])
  wants.requestPart('two', 'replica', 35_000)
  wants.tick(64_000)
  expect(await told()).toEqual([])
  wants.tick(65_000)
  expect(await told()).toEqual(['oracle,writer'])
  vi.useRealTimers()
})

// PIPE-15
it('statuses of wallets are incomplete while feeders have no room for them', () => {
  const frames: WantFrame[] = []
  const wants = new OrderInterests((frame) => frames.push(frame), 0)
  let height = 1_000
  const held = {
    archivePage: () => ({ head: null, parts: [] }),
    get chain() {
      return { height }
    },
  } as unknown as RetainedBlocks
  const desk = new PipelineService(held, wants, async () => ({ isNeeded: false, againMs: null }))
  const fromOf = (reader: string, orders: readonly string[], nowMs: number) =>
    desk.page({ v: 1, reader, from: null, kind: 'events', orders }, nowMs).ordersFrom
  const many = wallets(0, WATCHED_WALLETS_MAX - 1)
  expect(fromOf('many', many, 0)).toBe(1_101)
  const two = wallets(WATCHED_WALLETS_MAX, 2)
  expect([fromOf('two', two, 0), fromOf('two', two, 5_000)]).toEqual([null, null])
  // One of them was: it has no statuses of the other.
  expect(fromOf('one', two.slice(0, 1), 5_000)).toBe(1_101)
  height = 2_000
  expect([fromOf('many', many, 15_000), fromOf('two', two, 15_000)]).toEqual([1_101, null])
  fromOf('many', many.slice(1), 16_000)
  expect([fromOf('two', two, 16_000), fromOf('two', two, 20_000)]).toEqual([2_101, 2_101])
  const told = new Set<string>()
  for (const { orders } of frames) {
    for (const name of orders.drop) told.delete(name)
    for (const name of orders.add) told.add(name)
  }
  expect([told.size, told.has(two[1]!)]).toEqual([WATCHED_WALLETS_MAX, true])
})
