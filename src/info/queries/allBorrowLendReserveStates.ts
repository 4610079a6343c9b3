// allBorrowLendReserveStates: what is lent of every token that can be, by its index. Wire-equal.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/lending-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const AllBorrowLendReserveStatesRequest = z.object({ type: z.literal('allBorrowLendReserveStates') })

export const allBorrowLendReserveStates = defineQuery({
  type: 'allBorrowLendReserveStates',
  summary: 'What is lent of every token, and at which rates',
  example: { request: {}, response: [[0, EXAMPLE_RESERVE]] },
  request: AllBorrowLendReserveStatesRequest,
  response: z.array(z.tuple([z.int().describe('Token index'), LendingReserve.describe('Reserve state')])),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
