// An order-level snapshot is sent at the height that the rows after it continue from.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { L4Requests } from '../../src/feeder/l4-requests.ts'
import { L4_COINS_MAX } from '../../src/protocol/feed/protocol.ts'

const COINS = ['BTC', 'ETH', '@1']
const none = { add: [], drop: [] }

const coins = fc.oneof(fc.constant(COINS), fc.subarray(COINS))
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('block' as const), coins }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('ask' as const, 'add' as const), coins }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('drop' as const, 'whole' as const), coins: fc.subarray(COINS) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('broken' as const, 'closed' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('offer' as const),
      coin: fc.constantFrom(...COINS),
      back: fc.nat(6),
      isFirst: fc.boolean(),
    }),
  },
)

// FEED-36
test('invariant: a book is never older than the first block of the unbroken run of rows, or than its request', () => {
  let sent = 0
  let kept = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 60 }), (steps) => {
      const asks = new L4Requests()
      let height = 100
      /** By coin: the heights of its row run while it is subscribed, and the time of its request. */
      const runs = new Map<string, number[]>()
      const asked = new Map<string, number>()
      for (const one of steps) {
        if (one.do === 'block') {
          height++
          const known = one.coins.filter((coin) => asks.coins.has(coin))
          asks.onBlock({ height, l4: known.map((coin) => ({ coin, statuses: [], diffs: [] })) })
          for (const [coin, run] of runs) runs.set(coin, known.includes(coin) ? [...run, height] : [])
        } else if (one.do === 'ask') {
          asks.request(one.coins, height)
          for (const coin of one.coins) if (runs.has(coin) && !asked.has(coin)) asked.set(coin, height)
        } else if (one.do === 'add' || one.do === 'drop' || one.do === 'whole') {
          const isWhole = one.do === 'whole'
          asks.updateWanted({ ...(isWhole && { whole: true }), l4: { ...none, [isWhole ? 'add' : one.do]: one.coins } })
          const gone = isWhole ? COINS.filter((coin) => !one.coins.includes(coin)) : one.do === 'drop' ? one.coins : []
          for (const coin of gone) for (const map of [runs, asked]) map.delete(coin)
          if (one.do !== 'drop') for (const coin of one.coins) if (!runs.has(coin)) runs.set(coin, [])
          expect([...asks.coins].sort()).toEqual([...runs.keys()].sort())
        } else if (one.do === 'broken') {
          asks.onBreak()
          for (const coin of runs.keys()) runs.set(coin, [])
        } else if (one.do === 'closed') {
          asks.onClose()
          asked.clear()
        } else if (one.do === 'offer') {
          const { coin, isFirst, back } = one
          const at = height - back
          const isDue = [...asked.keys()].some((name) => runs.get(name)!.length > 0)
          expect(asks.isDue).toBe(isDue)
          const goes = runs.get(coin)?.includes(at) === true && (!isFirst || asked.get(coin)! <= at)
          expect(isFirst ? asks.coinsFor(at).includes(coin) : goes).toBe(goes)
          void asks.offer({ coin, height: at, isFirst, text: 'x' })
          expect(asks.take()).toBe(goes ? 'x' : null)
          expect(asks.take()).toBeNull()
          if (isFirst && goes) asked.delete(coin)
          if (goes) sent++
          else kept++
        }
      }
    }),
    { numRuns: 400 },
  )
  expect(Math.min(sent, kept)).toBeGreaterThan(100)
})

const block = (asks: L4Requests, height: number) =>
  asks.onBlock({ height, l4: [...asks.coins].map((coin) => ({ coin, statuses: [], diffs: [] })) })

test('a waiting part is dropped when the connection ends or it becomes useless', async () => {
  for (const end of [
    (asks: L4Requests) => asks.onClose(),
    (asks: L4Requests) => asks.onBreak(),
    (asks: L4Requests) => asks.updateWanted({ whole: true }),
  ]) {
    const asks = new L4Requests()
    asks.updateWanted({ l4: { add: ['BTC'], drop: [] } })
    block(asks, 1)
    asks.request(['BTC'], 1)
    const offer = asks.offer({ coin: 'BTC', height: 1, isFirst: true, text: 'x' })
    end(asks)
    expect([asks.take(), await offer]).toEqual([null, false])
  }
})

// FEED-35
test('coins are limited', () => {
  const asks = new L4Requests()
  asks.updateWanted({ l4: { add: Array.from({ length: L4_COINS_MAX + 9 }, (_, i) => `C${i}`), drop: [] } })
  expect(asks.coins.size).toBe(L4_COINS_MAX)
})
