// spotClearinghouseState: the spot balances of a user. Wire-equal.

import * as z from 'zod'
import { SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
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
