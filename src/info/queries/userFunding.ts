// userFunding: the funding that a user paid (below zero) and got in a window, oldest first, at most 500. Wire-equal: old rows
// stand for `nSamples` hours each, with their mean size.

import * as z from 'zod'
import { TxHash } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { HASH, TIME, USER } from '../shapes/examples.ts'
import { EXAMPLE_FUNDING, FUNDING_AMOUNTS } from '../shapes/funding-shapes.ts'
import { isInOrder, Moment, optional, REVERSED_WINDOW, UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserFundingRequest = z
  .object({ type: z.literal('userFunding'), user: UserAddress, startTime: optional(Moment), endTime: optional(Moment) })
  .refine(isInOrder, REVERSED_WINDOW)

const FundingPayment = z.looseObject({
  time: z.int(),
  hash: TxHash,
  delta: z.looseObject({ type: z.literal('funding'), ...FUNDING_AMOUNTS }),
})

export const userFunding = defineQuery({
  type: 'userFunding',
  summary: 'The funding that a user paid and got',
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, hash: HASH, delta: { type: 'funding', ...EXAMPLE_FUNDING } }],
  },
  request: UserFundingRequest,
  response: z.array(FundingPayment),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
