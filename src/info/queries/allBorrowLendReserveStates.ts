// allBorrowLendReserveStates: lending state of every token, by token index. Same response as the exchange's API.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/account-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const allBorrowLendReserveStates = bareQuery({
  type: 'allBorrowLendReserveStates',
  summary: 'Lending volumes and rates of every token',
  example: [[0, EXAMPLE_RESERVE]],
  response: () => z.array(z.tuple([z.int().describe('Token index'), LendingReserve.describe('Reserve state')])),
  freshness: { class: 'tick' },
})
