import { describe, expect, it } from 'vitest'
import { HEAVIEST_REQUEST, weightOf, weightToReserve } from '../../src/upstream/weight.ts'

describe('weights of the public API', () => {
  it.each([
    ['l2Book', 0, 2],
    ['clearinghouseState', 0, 2],
    ['exchangeStatus', 0, 2],
    ['meta', 0, 20],
    ['openOrders', 500, 20],
    ['userRole', 0, 60],
    ['userFills', 0, 20],
    ['userFills', 20, 21],
    ['userFills', 21, 22],
    ['userFills', 2_000, 120],
    ['candleSnapshot', 60, 21],
    ['candleSnapshot', 5_000, 104],
  ])('%s with %d rows: %d', (type, rows, weight) => {
    expect(weightOf(type, rows)).toBe(weight)
  })

  it("reserve a type's maximum, and nothing costs more than the heaviest request", () => {
    expect(weightToReserve('userFills')).toBe(120)
    expect(weightToReserve('candleSnapshot')).toBe(104)
    expect(weightToReserve('fundingHistory')).toBe(45)
    expect(weightToReserve('meta')).toBe(20)
    expect(HEAVIEST_REQUEST).toBe(120)
  })
})
