import { expect, it } from 'vitest'
import { PendingSegment } from '../../src/feed/pending-segment.ts'
import { encodeBlock, hubBlockText } from '../../src/feed/segment.ts'

const texts = (height: number) =>
  encodeBlock({ height, time: height, fills: [], ledger: [], funding: [], books: [] }, 'a')

it('the stored line behind a repair names its coins, and readers are told as ever', () => {
  const pending = new PendingSegment()
  pending.push(texts(1), 0)
  pending.repaired(['BTC'])
  pending.repaired(['BTC', '@1'])
  pending.push(texts(2), 0)
  pending.push(texts(3), 0)
  pending.repaired(['ETH'])
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
