// userRateLimit: what the exchange allows a user to send, by volume traded. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const UserRateLimit = z.looseObject({
  cumVlm: Decimal,
  nRequestsUsed: z.int().describe('Requests used'),
  nRequestsCap: z.int().describe('Requests allowed'),
  nRequestsSurplus: z.int().optional().describe('Requests bought'),
})

export const userRateLimit = passThroughQuery({
  type: 'userRateLimit',
  summary: 'What the exchange allows a user to send',
  example: {
    request: { user: USER },
    response: { cumVlm: '813.07', nRequestsUsed: 12, nRequestsCap: 10813, nRequestsSurplus: 0 },
  },
  request: z.object({ type: z.literal('userRateLimit'), user: UserAddress }),
  response: UserRateLimit,
  freshness: { class: 'user' },
})
