// spotClearinghouseState: the spot balances of a user. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { SPOT_STATE, USER } from '../shapes/examples.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { SpotState } from '../shapes/spot-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const SpotClearinghouseStateRequest = z.object({ type: z.literal('spotClearinghouseState'), user: UserAddress })

export const spotClearinghouseState = defineQuery({
  type: 'spotClearinghouseState',
  summary: 'The spot balances of a user',
  example: { request: { user: USER }, response: SPOT_STATE },
  request: SpotClearinghouseStateRequest,
  response: SpotState,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
