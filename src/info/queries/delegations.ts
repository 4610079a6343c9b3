// delegations: a user's stake by validator. Wire-equal.

import * as z from 'zod'
import { OTHER_USER, TIME, USER } from '../examples.ts'
import { passThrough } from '../pass-through.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { UserAddress } from '../request-fields.ts'
import { Decimal } from '../shapes.ts'

const DelegationsRequest = z.object({ type: z.literal('delegations'), user: UserAddress })

export const delegations = defineQuery({
  type: 'delegations',
  summary: "A user's stake by validator",
  example: {
    request: { user: USER },
    response: [{ validator: OTHER_USER, amount: '100.5', lockedUntilTimestamp: TIME }],
  },
  request: DelegationsRequest,
  response: z.array(z.looseObject({ validator: z.string(), amount: Decimal, lockedUntilTimestamp: z.int() })),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
