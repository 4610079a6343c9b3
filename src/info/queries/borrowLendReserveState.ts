// borrowLendReserveState: lending state of one token. Same response as the exchange's API.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/account-shapes.ts'
import { SpotToken } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const borrowLendReserveState = passThroughQuery({
  type: 'borrowLendReserveState',
  summary: 'Lending volume and rates of one token',
  example: { request: { token: 0 }, response: EXAMPLE_RESERVE },
  request: z.object({
    type: z.literal('borrowLendReserveState'),
    token: SpotToken,
  }),
  response: () => LendingReserve,
  freshness: { class: 'tick' },
})
