// allBorrowLendReserveStates: what is lent of every token that can be, by its index. Wire-equal.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/account-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const allBorrowLendReserveStates = bareQuery({
  type: 'allBorrowLendReserveStates',
  summary: 'What is lent of every token, and at which rates',
  example: [[0, EXAMPLE_RESERVE]],
  response: z.array(z.tuple([z.int().describe('Token index'), LendingReserve.describe('Reserve state')])),
  freshness: { class: 'tick' },
})
