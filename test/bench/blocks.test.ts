// What the bench sends, and what it takes for the frames of a crowd.

import { expect, it } from 'vitest'
import { parseFeederFrame } from '../../src/block-log/frame-check.ts'
import { FollowedOrders } from '../../src/order-books/l4/followed-orders.ts'
import type { L4Book } from '../../src/protocol/feed/protocol.ts'
import { BlockTexts, heightOf, type Kind } from './blocks.ts'
import { CROWDS, type CrowdName, crowdOf } from './crowds.ts'
import { orderParts, orderRows } from './orders.ts'

const HEIGHTS = Array.from({ length: 30 }, (_, i) => 1_234_567 + i)
const KINDS: readonly Kind[] = ['single', 'traded', 'market', 'worst', 'empty']

it.each(KINDS)('sends blocks of %s as a feeder may', (kind) => {
  const texts = new BlockTexts(kind)
  for (const height of HEIGHTS) {
    const sent = parseFeederFrame(JSON.parse(texts.feed(height)))
    expect(sent.error).toBeUndefined()
    expect(sent.data).toMatchObject({ height, books: expect.any(Array) })
  }
})

it.each(Object.keys(CROWDS) as CrowdName[])('finds the height of each frame of the crowd %s', (crowd) => {
  const texts = new BlockTexts('market')
  for (const height of HEIGHTS)
    for (const frame of crowdOf(crowd).lines.flatMap((line) => line(texts, height))) {
      JSON.parse(frame)
      expect(heightOf(Number(/"time":(\d{13})/.exec(frame)![1]))).toBe(height)
    }
})

it('changes the best levels of ten coins in a block of all markets, each to another one', () => {
  const texts = new BlockTexts('market')
  const last = new Map<string, string>()
  let frames = 0
  for (const height of HEIGHTS)
    for (const frame of texts.bests(height)) {
      const { coin, bbo } = (JSON.parse(frame) as { data: { coin: string; bbo: object } }).data
      expect(JSON.stringify(bbo)).not.toBe(last.get(coin))
      last.set(coin, JSON.stringify(bbo))
      frames++
    }
  expect(frames / HEIGHTS.length).toBeCloseTo(10.7, 0)
})

it('sends rows that fit all orders, in a frame as feeders may', () => {
  const orders = new FollowedOrders()
  for (const part of orderParts(1_000_000)) {
    const sent = parseFeederFrame(JSON.parse(part))
    expect(sent.error).toBeUndefined()
    orders.onPart(sent.data as L4Book)
  }
  orders.follow(null)
  for (const height of [1_000_001, 1_000_002]) {
    const rows = orderRows(height, true)
    const { statuses, diffs } = JSON.parse(rows) as { statuses: unknown[]; diffs: unknown[] }
    const text = `"order_statuses":${JSON.stringify(statuses)},"book_diffs":${JSON.stringify(diffs)}`
    expect(orders.onBlock({ height, time: height, epoch: null }, text)).toBeNull()
    expect((rows.length * 14.5) / 1e6).toBeCloseTo(5.6, 0)
  }
})
