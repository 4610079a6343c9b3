// borrowLendReserveState: lending state of one token. Same response as the exchange's API.

import * as z from 'zod'
import { EXAMPLE_RESERVE, LendingReserve } from '../../protocol/info/account-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const borrowLendReserveState = passThroughQuery({
  type: 'borrowLendReserveState',
  summary: 'Lending volume and rates of one token',
  example: { request: { token: 0 }, response: EXAMPLE_RESERVE },
  request: z.object({
    type: z.literal('borrowLendReserveState'),
    token: z.int().min(0).describe('Spot token index, from `spotMeta`'),
  }),
  response: () => LendingReserve,
  freshness: { class: 'tick' },
})
