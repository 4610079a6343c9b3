// userRateLimit: request limit of a user on the exchange, based on traded volume. Same response as the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const UserRateLimit = () =>
  z.looseObject({
    cumVlm: Decimal,
    nRequestsUsed: z.int().describe('Requests used'),
    nRequestsCap: z.int().describe('Requests allowed'),
    nRequestsSurplus: z.int().optional().describe('Requests bought'),
  })

export const userRateLimit = ofUserQuery({
  type: 'userRateLimit',
  summary: "A user's request limit on the exchange",
  example: { cumVlm: '813.07', nRequestsUsed: 12, nRequestsCap: 10813, nRequestsSurplus: 0 },
  response: UserRateLimit,
})
