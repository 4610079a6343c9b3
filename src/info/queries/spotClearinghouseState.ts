// spotClearinghouseState: the spot balances of a user. Wire-equal.

import * as z from 'zod'
import { SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const spotClearinghouseState = passThroughQuery({
  type: 'spotClearinghouseState',
  summary: 'The spot balances of a user',
  example: { request: { user: USER }, response: SPOT_STATE },
  request: z.object({ type: z.literal('spotClearinghouseState'), user: UserAddress }),
  response: SpotState,
  freshness: { class: 'user' },
})
