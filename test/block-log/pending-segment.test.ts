import { expect, it } from 'vitest'
import { PendingSegment } from '../../src/block-log/pending-segment.ts'
import { encodeBlock, hubBlockText } from '../../src/block-log/segment.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { fillWith } from '../kit/fills.ts'

const texts = (height: number) =>
  encodeBlock({ height, time: height, fills: [], ledger: [], funding: [], books: [] }, 'a')

it('payments are a separate kind and do not affect digests', () => {
  const pending = new PendingSegment()
  const block = { height: 2, time: 2, fills: [], ledger: [], funding: [], books: [] }
  const paid = encodeBlock({ ...block, payments: ['x'] }, 'a')
  expect(paid.digests).toEqual(texts(2).digests)
  expect(paid.events).toBe(texts(2).events)
  for (const one of [texts(1), paid, texts(3)]) pending.push(one, 0)
  expect(pending.take()!.lines.payments).toBe('\n["x"]\n')
  pending.push(texts(4), 0)
  expect(pending.take()!.lines).not.toHaveProperty('payments')
})

it('dust and the settlement of an outcome that lost do not change the last price', () => {
  const fills = [
    { coin: '#40', px: '0.25', tid: 1 },
    { coin: '#40', px: '0.0', tid: 2, dir: 'Settlement' },
    { coin: '@1', px: '7.0', tid: 0, dir: 'Spot Dust Conversion' },
    { coin: 'BTC', px: '9.0', tid: 3, dir: 'Auto-Deleveraging' },
  ].map((fill): UserFill => ['0x1', fillWith(fill)])
  const block = { height: 2, time: 2, fills, ledger: [], funding: [], books: [] }
  expect(encodeBlock(block, 'a').px).toEqual({ '#40': '0.25', BTC: '9.0' })
})

it('oracle updates and writer actions are in the events line, absent if unknown, and do not affect digests', () => {
  const block = { height: 2, time: 2, fills: [], ledger: [], funding: [], books: [] }
  const rich = encodeBlock({ ...block, oracle: [{ n: 1 }], writer: [] }, 'a')
  expect(rich.digests).toEqual(texts(2).digests)
  const { oracle, writer, ...rest } = JSON.parse(rich.events)
  expect([oracle, writer]).toEqual([[{ n: 1 }], []])
  expect(rest).toEqual(JSON.parse(texts(2).events))
})

it("the stored line after a repair names its coins, and readers' frames do not change", () => {
  const pending = new PendingSegment()
  pending.push(texts(1), 0)
  pending.addRepaired(['BTC'])
  pending.addRepaired(['BTC', '@1'])
  pending.push(texts(2), 0)
  pending.push(texts(3), 0)
  pending.addRepaired(['ETH'])
  const lines = (taken = pending.take()) => taken!.lines.books!.split('\n').map((line) => JSON.parse(line))
  expect(lines().map(({ height, repaired }) => [height, repaired])).toEqual([
    [1, undefined],
    [2, ['BTC', '@1']],
    [3, undefined],
  ])
  pending.push(texts(4), 0)
  expect(lines()).toMatchObject([{ height: 4, repaired: ['ETH'], books: [] }])
  expect(JSON.parse(hubBlockText(texts(2), () => true))).not.toHaveProperty('repaired')
})
