import { expect, test } from 'vitest'
import { paymentsIn } from '../../../src/archive/files/funding-sums.ts'

test('late funding of a minute is that of its own block', () => {
  const block = (height: number, funding: { coin: string; perUnit: string; time?: number }[] = []) => {
    return { height, time: 70 * height, fills: [], ledger: [], funding }
  }
  const paid = { coin: 'BTC', perUnit: '0.5' }
  expect(paymentsIn([block(1), block(2), block(3, [{ ...paid, time: 75 }])])).toEqual([{ ...paid, height: 1 }])
  expect(paymentsIn([block(2), block(3, [{ ...paid, time: 75 }])])).toEqual([{ ...paid, height: 1 }])
})
