import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HubFrameToRelay } from '../../../src/protocol/hub/hub-link.ts'
import { BlockJoin, LATE_MS, MAX_WAITING_HEIGHTS } from '../../../src/relay/books/block-join.ts'
import type { BookBatch } from '../../../src/relay/channel.ts'

const frame = (height: number, coins: string[] = [], epoch = 'e'): HubFrameToRelay => ({
  v: 1,
  epoch,
  height,
  time: height * 10,
  coins: coins.map((coin) => ({ mark: '=', coin, prevSeq: height - 1, levels: `"${coin}@${height}"` })),
})
const start = (hubs: number, height = 0) =>
  new BlockJoin(new Map(Array.from({ length: hubs }, (_, hub) => [hub, height])))
const brief = (emissions: readonly BookBatch[]) =>
  emissions.map(({ height, updates }) => `${height}:${updates.map(({ coin }) => coin).join('+')}`)

test('sends a height when all hubs have reported it; ticks alone send nothing', () => {
  const join = start(3)
  expect(brief(join.push(0, frame(1, ['BTC']), 0))).toEqual([])
  expect(brief(join.push(2, frame(1, ['SOL']), 5))).toEqual([])
  expect(brief(join.push(1, frame(1), 9))).toEqual(['1:BTC+SOL'])
  for (const hub of [0, 1, 2]) expect(join.push(hub, frame(2), 10)).toEqual([])
  expect(join.clearedHeight(0)).toBe(2)
})

// WS-34
test('continues without a hub that is silent for a second; its coins follow at their own height', () => {
  const join = start(2)
  expect(join.push(0, frame(1, ['BTC']), 0)).toEqual([])
  expect(join.dueMs()).toBe(LATE_MS)
  expect(join.tick(LATE_MS - 1)).toEqual([])
  expect(brief(join.tick(LATE_MS))).toEqual(['1:BTC'])
  // While it is late, nothing waits for it.
  expect(brief(join.push(0, frame(2, ['BTC']), LATE_MS + 1))).toEqual(['2:BTC'])
  expect(brief(join.push(1, frame(1, ['ETH']), LATE_MS + 2))).toEqual(['1:ETH'])
  expect(join.clearedHeight(1)).toBe(1)
  expect(brief(join.push(1, frame(2, ['ETH']), LATE_MS + 3))).toEqual(['2:ETH'])
  // It has caught up, so others wait for it again.
  expect(join.push(0, frame(3, ['BTC']), LATE_MS + 4)).toEqual([])
  expect(brief(join.push(1, frame(3, ['ETH']), LATE_MS + 5))).toEqual(['3:BTC+ETH'])
})

test('waits for a late hub again once it has caught up', () => {
  const join = start(2)
  join.push(0, frame(1, ['BTC']), 0)
  join.tick(LATE_MS)
  for (const height of [2, 3, 4]) join.push(0, frame(height, ['BTC']), LATE_MS)
  // Heights below the last sent one do not end its lateness.
  for (const height of [1, 2, 3]) expect(brief(join.push(1, frame(height, ['ETH']), 1500))).toEqual([`${height}:ETH`])
  expect([join.clearedHeight(0), join.clearedHeight(1)]).toEqual([4, 3])
  expect(brief(join.push(0, frame(5, ['BTC']), 1500))).toEqual(['5:BTC'])
  expect(brief(join.push(1, frame(5, ['ETH']), 1500))).toEqual(['5:ETH'])
  expect(brief(join.push(0, frame(6, ['BTC']), 1500))).toEqual([])
  expect(brief(join.push(1, frame(6, ['ETH']), 1500))).toEqual(['6:BTC+ETH'])
})

test('is due a second after its oldest pending frame', () => {
  const join = start(2)
  join.push(0, frame(1, ['BTC']), 100)
  join.push(0, frame(2, ['BTC']), 700)
  expect(join.dueMs()).toBe(100 + LATE_MS)
  expect(brief(join.tick(100 + LATE_MS))).toEqual(['1:BTC', '2:BTC'])
})

test('waits for hubs that start at different heights, starting at the lowest', () => {
  const join = new BlockJoin(
    new Map([
      [0, 5],
      [1, 3],
    ]),
  )
  expect([join.clearedHeight(0), join.clearedHeight(1), join.clearedHeight(7)]).toEqual([3, 3, -1])
  expect(brief(join.push(1, frame(4, ['ETH']), 0))).toEqual(['4:ETH'])
  expect(join.push(0, frame(6, ['BTC']), 0)).toEqual([])
})

test('ignores a hub outside the join', () => {
  const join = start(2)
  expect(join.push(2, frame(1, ['SOL']), 0)).toEqual([])
  expect(join.dueMs()).toBeNull()
})

test('keeps at most 64 pending heights; one more sends the oldest, and its hub is late', () => {
  const join = start(2)
  for (let height = 1; height <= MAX_WAITING_HEIGHTS; height++)
    expect(join.push(0, frame(height, ['BTC']), 0)).toEqual([])
  const out = brief(join.push(0, frame(MAX_WAITING_HEIGHTS + 1, ['BTC']), 0))
  expect(out[0]).toBe('1:BTC')
  expect(out).toHaveLength(MAX_WAITING_HEIGHTS + 1)
  expect(join.dueMs()).toBeNull()
})

test('sends separate batches for hubs in different epochs at one height', () => {
  const join = start(2)
  join.push(0, frame(1, ['BTC'], 'old'), 0)
  const emissions = join.push(1, frame(1, ['ETH'], 'new'), 0)
  expect(emissions.map(({ epoch, updates }) => [epoch, updates[0]!.coin])).toEqual([
    ['old', 'BTC'],
    ['new', 'ETH'],
  ])
})

// WS-34
test('invariant: every fragment is sent exactly once, per coin in height order, for any interleaving', () => {
  const step = fc.record({
    hub: fc.nat({ max: 3 }),
    passMs: fc.oneof(fc.constant(0), fc.nat({ max: 400 })),
    again: fc.nat({ max: 5 }),
    skip: fc.constantFrom(0, 0, 0, 1),
    changes: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const join = start(4)
      const heights = [0, 0, 0, 0]
      const sent: string[] = []
      const got: BookBatch[] = []
      let now = 0
      const push = (hub: number, height: number, changes: boolean) => {
        if (changes) sent.push(`${height}:C${hub}`)
        got.push(...join.push(hub, frame(height, changes ? [`C${hub}`] : []), now))
      }
      for (const { hub, passMs, again, skip, changes } of steps) {
        now += passMs
        got.push(...join.tick(now))
        const height = heights[hub]!
        // A restarted hub repeats what it sent.
        for (let old = Math.max(1, height - again); again > 3 && old <= height; old++) {
          got.push(...join.push(hub, frame(old, [`C${hub}`]), now))
        }
        heights[hub] = height + 1 + skip
        push(hub, heights[hub], changes)
      }
      // Everyone reports a last height, so nothing may be left.
      const end = Math.max(...heights) + 1
      for (let hub = 0; hub < 4; hub++) push(hub, end, true)
      got.push(...join.tick(now + LATE_MS))
      expect(join.dueMs()).toBeNull()
      expect(
        brief(got)
          .flatMap((text) =>
            text
              .split(':')[1]!
              .split('+')
              .map((coin) => `${text.split(':')[0]}:${coin}`),
          )
          .sort(),
      ).toEqual(sent.sort())
      for (let hub = 0; hub < 4; hub++) {
        const own = got
          .filter(({ updates }) => updates.some(({ coin }) => coin === `C${hub}`))
          .map(({ height }) => height)
        expect(own).toEqual([...own].sort((a, b) => a - b))
      }
      expect(got.every(({ updates }) => updates.length > 0)).toBe(true)
    }),
  )
})
