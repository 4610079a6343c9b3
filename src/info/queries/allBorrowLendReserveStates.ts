// allBorrowLendReserveStates: what is lent of every token that can be, by its index. Wire-equal.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/lending-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const allBorrowLendReserveStates = passThroughQuery({
  type: 'allBorrowLendReserveStates',
  summary: 'What is lent of every token, and at which rates',
  example: { request: {}, response: [[0, EXAMPLE_RESERVE]] },
  request: z.object({ type: z.literal('allBorrowLendReserveStates') }),
  response: z.array(z.tuple([z.int().describe('Token index'), LendingReserve.describe('Reserve state')])),
  freshness: { class: 'tick' },
})
