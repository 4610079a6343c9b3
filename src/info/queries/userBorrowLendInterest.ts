// userBorrowLendInterest: the interest that a user paid and got in a window, by token. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { EndTime, isInOrder, REVERSED_WINDOW, StartTime, UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserBorrowLendInterestRequest = z
  .object({
    type: z.literal('userBorrowLendInterest'),
    user: UserAddress,
    startTime: StartTime,
    endTime: EndTime,
  })
  .refine(isInOrder, REVERSED_WINDOW)

export const userBorrowLendInterest = defineQuery({
  type: 'userBorrowLendInterest',
  summary: 'The interest that a user paid and got in a window',
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, token: 'USDC', borrow: '0.5', supply: '0.0' }],
  },
  request: UserBorrowLendInterestRequest,
  response: z.array(
    z.looseObject({
      time: z.int(),
      token: z.string().describe('Index of the spot token'),
      borrow: Decimal,
      supply: Decimal,
    }),
  ),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
