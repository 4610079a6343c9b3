import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  businessDays,
  dollarsOfPeriod,
  dollarsText,
  soldMicroUsd,
} from '../../../src/http/platform/endpoints/business.ts'
import { dollarsPerMonth } from '../../../src/http/platform/month-bill.ts'

const DAY = 86_400_000

it('days sum up their rows, and totals sum up the days', () => {
  const used = [
    { day: 0, product: 'info', count: 3, micro: 3_000_000 },
    { day: 0, product: 'stream', count: 2, micro: 2_000_000 },
    { day: DAY, product: 'pipeline', count: 7, micro: 70 },
  ]
  const { rows, totals, codes } = businessDays(
    used,
    [{ day: DAY, micro: 500 }],
    [
      { day: 0, code: 'a', count: 1 },
      { day: DAY, code: 'b', count: 2 },
      { day: 2 * DAY, code: 'a', count: 2 },
    ],
  )
  expect(rows).toEqual([
    {
      day: 0,
      granted: 0,
      spent: 5_000_000,
      calls: 3,
      stream_minutes: 2,
      pipeline_rows: 0,
      refusals: 1,
      byProduct: { info: 3_000_000, stream: 2_000_000 },
    },
    {
      day: DAY,
      granted: 500,
      spent: 70,
      calls: 0,
      stream_minutes: 0,
      pipeline_rows: 7,
      refusals: 2,
      byProduct: { pipeline: 70 },
    },
    { day: 2 * DAY, granted: 0, spent: 0, calls: 0, stream_minutes: 0, pipeline_rows: 0, refusals: 2, byProduct: {} },
  ])
  expect(totals).toEqual({ granted: 500, spent: 5_000_070, calls: 3, stream_minutes: 2, pipeline_rows: 7, refusals: 5 })
  expect(codes).toEqual([
    { code: 'a', count: 3 },
    { code: 'b', count: 2 },
  ])
})

it('money is exact and rounded down', () => {
  expect(dollarsText(soldMicroUsd(1_000_000_000_000, 49_500_000))).toBe('49.50')
  expect(dollarsText(soldMicroUsd(1_000_000, 49_500_000))).toBe('0.000049')
  expect(dollarsText(1n)).toBe('0.000001')
  expect(dollarsText(1_230_000n)).toBe('1.23')
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (micro, price) => {
      const sold = soldMicroUsd(micro, price)
      expect(sold * 10n ** 12n <= BigInt(micro) * BigInt(price)).toBe(true)
      expect((sold + 1n) * 10n ** 12n > BigInt(micro) * BigInt(price)).toBe(true)
      expect(dollarsText(sold)).toMatch(/^\d+\.\d{2,6}$/)
    }),
  )
})

it('the cost of a period is base cost plus calls and streams', () => {
  const used = { calls: 1_000_000, streamMinutes: 43_200 }
  const { standing, calls, streams, total } = dollarsOfPeriod(30, used, { hubs: 4, relays: 1 })
  expect(standing).toBeCloseTo(
    dollarsPerMonth({ blocksPerSecond: 14.5, coins: 300, hubs: 4, relays: 1, orderBooks: 0 }),
    9,
  )
  // The second row of the table in docs/internals/benchmarks.md#cost-of-a-call.
  expect(calls).toBeCloseTo(0.58, 2)
  expect(streams).toBeLessThan(0.07)
  expect(total).toBe(standing + calls + streams)
})
