// delegations: a user's stake by validator. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const delegations = passThroughQuery({
  type: 'delegations',
  summary: "A user's stake by validator",
  example: {
    request: { user: USER },
    response: [{ validator: OTHER_USER, amount: '100.5', lockedUntilTimestamp: TIME }],
  },
  request: z.object({ type: z.literal('delegations'), user: UserAddress }),
  response: z.array(
    z.looseObject({
      validator: Address,
      amount: Decimal,
      lockedUntilTimestamp: z.int().describe('Locked until, Unix milliseconds'),
    }),
  ),
  freshness: { class: 'user' },
})
