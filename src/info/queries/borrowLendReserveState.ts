// borrowLendReserveState: what is lent of one token. Wire-equal.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/lending-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const BorrowLendReserveStateRequest = z.object({
  type: z.literal('borrowLendReserveState'),
  token: z.int().min(0).describe('Spot token index, from `spotMeta`'),
})

export const borrowLendReserveState = defineQuery({
  type: 'borrowLendReserveState',
  summary: 'What is lent of one token, and at which rates',
  example: { request: { token: 0 }, response: EXAMPLE_RESERVE },
  request: BorrowLendReserveStateRequest,
  response: LendingReserve,
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
