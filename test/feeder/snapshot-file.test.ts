// Snapshot files can be read in chunks of any size, in both formats.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coinNameOf, l4Frames, readCoin, SnapshotScanner } from '../../src/feeder/snapshot-file.ts'
import { FeederFrame, FRAME_MAX_BYTES, type L4Book } from '../../src/protocol/feed/protocol.ts'
import { EXAMPLE_ORDER } from '../kit/node-order.ts'

const order = (oid: number, side: 'B' | 'A', more: object = {}) => {
  const own = { coin: 'X', side, limitPx: '1.5', sz: '2.0', oid, cloid: '0x"[]\\', children: [{ nested: [1, [2]] }] }
  return { ...EXAMPLE_ORDER, ...own, ...more }
}
const coins = [
  ['X', [[['0xabc', order(1, 'B')], order(2, 'B', { isTrigger: true })], [order(3, 'A')]]],
  ['odd"[name]\\', [[], []]],
]

describe('snapshot files', () => {
  test.each([
    ['with a height', JSON.stringify([77, coins]), 77],
    ['with a height and spaces', JSON.stringify([77, coins], null, 1), 77],
    ['without a height', JSON.stringify(coins), null],
    ['without coins', '[77,[]]', 77],
  ])('%s, cut anywhere', (_, text, height) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: text.length }), (size) => {
        const scanner = new SnapshotScanner()
        const texts: string[] = []
        for (let i = 0; i < text.length; i += size) texts.push(...scanner.push(text.slice(i, i + size)))
        const found = texts.map(readCoin)
        expect(texts.map(coinNameOf)).toEqual(found.map(({ coin }) => coin))
        expect(scanner.isComplete).toBe(true)
        expect(scanner.height).toBe(height)
        if (text === '[77,[]]') return
        expect(found.map(({ coin }) => coin)).toEqual(['X', 'odd"[name]\\'])
        expect(found[0]!.orders.map(({ oid, side, px, sz }) => [oid, side, px, sz])).toEqual([
          [1, 'B', '1.5', '2.0'],
          [3, 'A', '1.5', '2.0'],
        ])
      }),
    )
  })

  test('that are truncated are not complete', () => {
    const scanner = new SnapshotScanner()
    scanner.push(JSON.stringify([77, coins]).slice(0, -1))
    expect(scanner.isComplete).toBe(false)
  })

  test.each(['{"error":"no"}', '"x"', `[77,[["X",[[{"oid":1}],[]]]]]`])('%s is rejected', (text) => {
    const read = () => {
      const scanner = new SnapshotScanner()
      scanner.push(text).map(readCoin)
      if (!scanner.isComplete) throw new Error('incomplete')
    }
    expect(read).toThrow()
  })
})

// FEED-36, FEED-37
test('orders of a coin are split into frames, in order and without other fields', () => {
  const entry = (oid: number, side: 'B' | 'A', more: object = {}) => ['0xabc', order(oid, side, more)]
  const bids = Array.from({ length: 2_000 }, (_, oid) => entry(oid, 'B'))
  const asks = Array.from({ length: 2_000 }, (_, oid) => entry(oid, 'A', oid === 5 ? { isTrigger: true } : {}))
  const texts = l4Frames(JSON.stringify(['X', [bids, asks]], null, 1), { height: 3, time: 4 })
  const frames = texts.map((text) => FeederFrame.parse(JSON.parse(text)) as L4Book)
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(FRAME_MAX_BYTES)
  expect(frames.map(({ part, parts }) => [part, parts])).toEqual(frames.map((_, part) => [part, frames.length]))
  expect(frames.length).toBeGreaterThan(3)
  expect(new Set(frames.map(({ coin, height, time }) => `${coin} ${height} ${time}`))).toEqual(new Set(['X 3 4']))
  const at = frames.findIndex((frame) => frame.asks.length > 0)
  expect(frames.slice(at + 1).flatMap((frame) => frame.bids)).toEqual([])
  const { children: _, origSz: __, ...kept } = EXAMPLE_ORDER
  const keys = JSON.stringify(['user', ...Object.keys(kept)].sort())
  for (const side of ['bids', 'asks'] as const) {
    const orders = frames.flatMap((frame) => frame[side]) as { oid: number }[]
    expect(new Set(orders.map((order) => JSON.stringify(Object.keys(order).sort())))).toEqual(new Set([keys]))
    const wanted = Array.from({ length: 2_000 }, (_, oid) => oid).filter((oid) => side === 'bids' || oid !== 5)
    expect(orders.map(({ oid }) => oid)).toEqual(wanted)
  }
  expect(l4Frames('["X",[[],[]]]', { height: 3, time: 4 }).map((text) => JSON.parse(text))).toEqual([
    { type: 'l4', coin: 'X', height: 3, time: 4, bids: [], asks: [], part: 0, parts: 1 },
  ])
})
