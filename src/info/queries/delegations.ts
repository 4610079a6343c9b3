// delegations: stake of a user by validator. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const delegations = ofUserQuery({
  type: 'delegations',
  summary: "A user's stake with each validator",
  example: [{ validator: OTHER_USER, amount: '100.5', lockedUntilTimestamp: TIME }],
  response: () =>
    z.array(
      z.looseObject({
        validator: Address,
        amount: Decimal,
        lockedUntilTimestamp: z.int().describe('Locked until, Unix milliseconds'),
      }),
    ),
})
