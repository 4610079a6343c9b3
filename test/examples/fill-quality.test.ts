// The simulation of examples/fill-quality.ts. The program is run by test/conformance/archive.test.ts.

import { beforeEach, expect, it } from 'vitest'
import { PassiveOrders } from '../../examples/fill-quality.ts'

const level = (px: string, sz: string) => ({ px, sz, n: sz === '0' ? 0 : 1 })
let orders: PassiveOrders

/** An order joins the bid at 99 behind a size of 2, and one the ask at 101 behind 3, at time 0. */
beforeEach(() => {
  orders = new PassiveOrders()
  orders.reset([[level('99', '2'), level('98', '5')], [level('101', '3')]], 0)
})
const sell = (time: number, px: number, sz: number) => orders.trade({ time, px, sz, side: 'A' })

it('fills an order only after the whole queue ahead of it', () => {
  sell(1_000, 99, 1.5)
  sell(1_100, 99, 0.5)
  expect(orders.result.fills).toEqual([])
  sell(1_200, 99, 0.1)
  expect(orders.result.fills).toMatchObject([{ side: 'B', px: 99, time: 0, filledAt: 1_200 }])
})

it('fills an order when the price trades through it', () => {
  sell(500, 98, 0.1)
  expect(orders.result.fills).toMatchObject([{ side: 'B', px: 99, filledAt: 500 }])
})

it('advances in the queue when the level gets smaller than what is ahead, and not otherwise', () => {
  orders.change([[level('99', '6')], []], 100)
  sell(200, 99, 1.9)
  expect(orders.result.fills).toEqual([])
  orders.change([[level('99', '0.05')], []], 300)
  sell(400, 99, 0.06)
  expect(orders.result.fills).toHaveLength(1)
})

it('measures the move of the mid after five seconds, with the sign of the side', () => {
  sell(1_000, 98, 1)
  orders.trade({ time: 1_000, px: 102, sz: 1, side: 'B' })
  orders.change(
    [
      [level('98', '0'), level('99', '0'), level('97', '1')],
      [level('101', '0'), level('99', '1')],
    ],
    5_999,
  )
  expect(orders.result.fills.map(({ markoutBps }) => markoutBps)).toEqual([null, null])
  orders.change([[level('97', '2')], []], 6_000)
  const [bid, ask] = orders.result.fills.map(({ markoutBps }) => markoutBps!)
  expect([bid, ask]).toEqual([expect.closeTo((98 / 99 - 1) * 10_000), expect.closeTo((1 - 98 / 101) * 10_000)])
})

it('gives up after a minute, and quotes every ten seconds', () => {
  for (let time = 1_000; time <= 61_000; time += 1_000) orders.change([[level('98', '5')], []], time)
  expect(orders.result).toMatchObject({ quotes: 14, timeouts: 2, fills: [] })
})

it('drops open orders when the book is unknown, and does not count them', () => {
  orders.reset(null, 0)
  sell(100, 90, 1)
  expect(orders.result).toEqual({ quotes: 0, fills: [], timeouts: 0 })
})
