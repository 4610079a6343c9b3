import { expect, test } from 'vitest'
import { CompletenessUpgrade, type CopySummary, NEAR_MS } from '../../src/block-log/completeness-upgrade.ts'
import type { Block } from '../../src/protocol/feed/block.ts'

interface Feeder {
  copy: CopySummary | null
  hasStatuses: boolean
}

const feeder = (): Feeder => ({ copy: null, hasStatuses: false })
const blockOf = (height: number, coins: readonly string[] = [], more: Partial<Block> = {}): Block => ({
  height,
  time: 1,
  fills: [],
  ledger: [],
  funding: [],
  books: [],
  l4: coins.map((coin) => ({ coin, statuses: [], diffs: [] })),
  ...more,
})

// FEED-33
test('a copy waits for a fuller one of a feeder close behind, not for a late one', () => {
  const copies = new CompletenessUpgrade()
  const full = feeder()
  const bare = feeder()
  const isLeft = (nowMs: number) => copies.isFuller(full.copy, bare.copy!, nowMs)
  copies.onCopy(bare, blockOf(1), 0)
  expect(isLeft(0)).toBe(false)
  copies.onCopy(full, blockOf(1, ['BTC']), NEAR_MS - 1)
  copies.onCopy(bare, blockOf(2), 100)
  expect([isLeft(100), isLeft(100 + NEAR_MS - 1), isLeft(100 + NEAR_MS)]).toEqual([true, true, false])
  // The second block is still missing, so the third waits for no other feeder.
  copies.onCopy(bare, blockOf(3), 100 + NEAR_MS)
  expect(isLeft(100 + NEAR_MS)).toBe(false)
  for (const height of [2, 3]) copies.onCopy(full, blockOf(height, ['BTC']), 500)
  copies.onCopy(bare, blockOf(4), 500)
  expect(isLeft(500)).toBe(false)
  copies.onCopy(full, blockOf(4, ['BTC']), 510)
  copies.onCopy(bare, blockOf(5), 570)
  expect(isLeft(570)).toBe(true)
})

// FEED-33
test('the log waits only for rows that the copy lacks, and never for a feeder without books or one that already sent its copy', () => {
  const copies = new CompletenessUpgrade()
  const one = feeder()
  const other = feeder()
  const isLeft = () => copies.isFuller(other.copy, one.copy!, 0)
  copies.onCopy(other, blockOf(1, ['BTC']), 0)
  copies.onCopy(one, blockOf(2, ['ETH', 'BTC']), 0)
  expect(isLeft()).toBe(false)
  copies.onCopy(one, blockOf(2, ['ETH']), 0)
  expect(isLeft()).toBe(true)
  copies.onCopy(other, blockOf(2), 0)
  expect(isLeft()).toBe(false)
  copies.onCopy(other, blockOf(3, ['BTC'], { books: null }), 0)
  copies.onCopy(one, blockOf(4), 0)
  expect(isLeft()).toBe(false)
})

// FEED-33
test('no copy waits for a feeder that lags by more than the remembered heights, nor after the log restarted', () => {
  const copies = new CompletenessUpgrade()
  const full = feeder()
  const bare = feeder()
  const isLeft = (nowMs: number) => copies.isFuller(full.copy, bare.copy!, nowMs)
  const lag = 300
  const blockMs = 70
  for (let height = 1; height <= 1_000; height++) {
    copies.onCopy(bare, blockOf(height), height * blockMs)
    expect(isLeft(height * blockMs)).toBe(false)
    if (height > lag) copies.onCopy(full, blockOf(height - lag, ['BTC']), height * blockMs + 1)
  }
  copies.clear()
  // Both catch up with the log, the more complete one from a lower height.
  copies.onCopy(full, blockOf(2_000, ['BTC']), 0)
  copies.onCopy(bare, blockOf(2_400), 0)
  expect(isLeft(0)).toBe(false)
})

// FEED-12, FEED-33
test.each(['before', 'after'])(
  'order statuses that come behind their block, %s another copy of it, are told once',
  (when) => {
    const copies = new CompletenessUpgrade()
    const late = feeder()
    const other = feeder()
    const orders = (height: number, ...rows: string[]) => blockOf(height, [], { orders: rows })
    const come = (from: Feeder, block: Block, then: 'onTaken' | 'onCompared') => {
      copies.onCopy(from, block, 0)
      return copies[then](from, block) ?? []
    }
    const told = [...come(late, orders(1), 'onTaken')]
    if (when === 'before') come(other, orders(1, 'a'), 'onCompared')
    told.push(...come(late, orders(2, 'a', 'b'), 'onTaken'))
    if (when === 'after') come(other, orders(1, 'a'), 'onCompared')
    told.push(...come(late, orders(3, 'c'), 'onTaken'))
    expect(told).toEqual(['a', 'b', 'c'])
  },
)

// FEED-33
test('order statuses that only a later copy has are sent once, with the next block', () => {
  const copies = new CompletenessUpgrade()
  const full = feeder()
  const bare = feeder()
  const orders = (height: number, ...rows: string[]) => blockOf(height, [], { orders: rows })
  const take = (from: Feeder, block: Block) => {
    copies.onCopy(from, block, 0)
    return copies.onTaken(from, block)
  }
  const compare = (from: Feeder, block: Block) => {
    copies.onCopy(from, block, 0)
    copies.onCompared(from, block)
  }
  take(bare, orders(1))
  for (let again = 0; again < 2; again++) compare(full, orders(1, 'a'))
  expect(take(full, orders(2, 'b'))).toEqual(['a', 'b'])
  compare(bare, orders(2))
  expect(take(full, orders(3))).toEqual([])
  // If both copies have some, the first copy is kept.
  compare(bare, orders(3, 'c'))
  expect(take(bare, orders(4, 'd'))).toEqual(['d'])
  compare(full, orders(4, 'e'))
  take(feeder(), orders(5))
  copies.clear()
  compare(full, orders(5, 'f'))
  expect(take(full, orders(6))).toEqual([])
})
