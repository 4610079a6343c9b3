// userBorrowLendInterest: interest paid and received by a user in a time window, per token. Same response as the
// exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress, WINDOW, withOrderedWindow } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const userBorrowLendInterest = passThroughQuery({
  type: 'userBorrowLendInterest',
  summary: 'Interest that a user paid and received in a time window',
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, token: 'USDC', borrow: '0.5', supply: '0.0' }],
  },
  request: withOrderedWindow(
    z.object({
      type: z.literal('userBorrowLendInterest'),
      user: UserAddress,
      ...WINDOW,
    }),
  ),
  response: () =>
    z.array(
      z.looseObject({
        time: z.int(),
        token: z.string().describe('Index of the spot token'),
        borrow: Decimal,
        supply: Decimal,
      }),
    ),
  freshness: { class: 'user' },
})
