// spotClearinghouseState: spot balances of a user. Same response as the exchange's API.

import { SPOT_STATE } from '../../protocol/info/examples.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const spotClearinghouseState = ofUserQuery({
  type: 'spotClearinghouseState',
  summary: 'Spot balances of a user',
  example: SPOT_STATE,
  response: () => SpotState,
})
