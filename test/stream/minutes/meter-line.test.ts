import { expect, test } from 'vitest'
import { MeterLine } from '../../../src/stream/minutes/meter-line.ts'
import type { Minutes } from '../../../src/stream/minutes/minutes.ts'
import { ModelStreams } from '../../credit/streams/model-streams.ts'

const PRICE = 1_000_000

test('all minutes that have started are asked for at one look, however many there are', async () => {
  const clock = { nowMs: 0 }
  const meter = new ModelStreams(1e15)
  const running: Minutes[] = Array.from({ length: 1_201 }, (_, index) => ({
    ...{ id: `s${index}`, keyHash: 'k', type: 'allFills', price: PRICE, body: `b${index}`, sinceMs: 0, paid: 0 },
  }))
  const limits = { connections: 10, subscriptions: 10_000 }
  const line = new MeterLine(
    'acme',
    { relay: 'r', life: 1, clock, exchange: async (_, report) => meter.take(report, clock.nowMs) },
    {
      here: () => ({ sockets: 2, keys: ['k'], limits, running: clock.nowMs === 0 ? [] : running }),
      answered: () => undefined,
      failed: () => undefined,
    },
  )
  await Promise.all(running.map((minutes) => line.begin(minutes)))
  await line.settled()
  expect(meter.charges).toHaveLength(1_201)
  clock.nowMs = 60_001
  line.report()
  await line.settled()
  expect(meter.charges).toHaveLength(2_402)
  expect(line.isIdle).toBe(true)
})

test('what is to say when a report was just answered is said at once', async () => {
  const meter = new ModelStreams(1e15)
  const here = { sockets: 1, keys: ['k'], limits: { connections: 10, subscriptions: 10 }, running: [] }
  for (let hops = 0; hops < 12; hops++) {
    const minutes: Minutes = {
      ...{ id: 's', keyHash: 'k', type: 'allFills', price: PRICE, body: `b${hops}`, sinceMs: 0, paid: 0 },
    }
    const line = new MeterLine(
      'acme',
      { relay: `r${hops}`, life: 1, clock: { nowMs: 0 }, exchange: async (_, report) => meter.take(report, 0) },
      { here: () => here, answered: () => undefined, failed: () => undefined },
    )
    await line.begin(minutes)
    for (let hop = 0; hop < hops; hop++) await Promise.resolve()
    line.end(minutes)
    await line.settled()
    await line.settled()
    expect(meter.stream(`r${hops}/s`)?.restMs).toBe(60_000)
  }
})
