// Snapshot files are read in any chunks, in both shapes.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coinNamed, readCoin, SnapshotScanner } from '../../src/feeder/snapshot-file.ts'

const order = (oid: number, side: 'B' | 'A', more: object = {}) => ({
  coin: 'X',
  side,
  limitPx: '1.5',
  sz: '2.0',
  oid,
  isTrigger: false,
  cloid: '0x"[]\\',
  children: [{ nested: [1, [2]] }],
  ...more,
})
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
        expect(texts.map(coinNamed)).toEqual(found.map(({ coin }) => coin))
        expect(scanner.complete).toBe(true)
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

  test('that are cut off are not complete', () => {
    const scanner = new SnapshotScanner()
    scanner.push(JSON.stringify([77, coins]).slice(0, -1))
    expect(scanner.complete).toBe(false)
  })

  test.each(['{"error":"no"}', '"x"', `[77,[["X",[[{"oid":1}],[]]]]]`])('%s is refused', (text) => {
    const read = () => {
      const scanner = new SnapshotScanner()
      scanner.push(text).map(readCoin)
      if (!scanner.complete) throw new Error('incomplete')
    }
    expect(read).toThrow()
  })
})
