// Borrowing and lending of tokens, each by its index.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

/** What is lent of one token, and at which rates. */
export const LendingReserve = z
  .looseObject({
    borrowYearlyRate: Decimal.describe('Yearly borrow rate, as a fraction'),
    supplyYearlyRate: Decimal.describe('Yearly supply rate, as a fraction'),
    balance: Decimal,
    utilization: Decimal.describe('Borrowed fraction of the supply'),
    oraclePx: Decimal,
    ltv: Decimal,
    totalSupplied: Decimal,
    totalBorrowed: Decimal,
  })
  .meta({ id: 'LendingReserve' })

export const EXAMPLE_RESERVE = {
  borrowYearlyRate: '0.05',
  supplyYearlyRate: '0.0',
  balance: '1000000.5',
  utilization: '0.25',
  oraclePx: '1.0',
  ltv: '0.65',
  totalSupplied: '1250000.0',
  totalBorrowed: '312500.0',
}
