// userNonFundingLedgerUpdates: balance movements of a user but funding, oldest first, at most 500. Wire-equal; the kinds of
// `delta` are open.

import * as z from 'zod'
import { LedgerUpdate } from '../../feed/ledger-update.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { HASH, TIME, USER } from '../shapes/examples.ts'
import { isInOrder, Moment, optional, REVERSED_WINDOW, UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserNonFundingLedgerUpdatesRequest = z
  .object({
    type: z.literal('userNonFundingLedgerUpdates'),
    user: UserAddress,
    startTime: optional(Moment),
    endTime: optional(Moment),
  })
  .refine(isInOrder, REVERSED_WINDOW)

export const userNonFundingLedgerUpdates = defineQuery({
  type: 'userNonFundingLedgerUpdates',
  summary: 'Balance movements of a user',
  example: {
    request: { user: USER, startTime: TIME },
    response: [{ time: TIME, hash: HASH, delta: { type: 'deposit', usdc: '100.5' } }],
  },
  request: UserNonFundingLedgerUpdatesRequest,
  response: z.array(LedgerUpdate),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
