// clearinghouseState: account of a user on one perp DEX, or on all of them. For one DEX, the response is the same as
// that of the exchange's API. The wildcard returns a map from DEX name to state or error, with the main DEX as
// `native`.

import * as z from 'zod'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { PERP_STATE, USER } from '../../protocol/info/examples.ts'
import { DexOrAll, isAllDexes, UserAddress } from '../../protocol/info/request-fields.ts'
import { ALL_DEXES_PRICE, defineQuery } from '../query.ts'
import { PerpStates, perpState } from '../sources/perp-states.ts'

const ClearinghouseStateRequest = z.object({
  type: z.literal('clearinghouseState'),
  user: UserAddress,
  dex: DexOrAll,
})
type ClearinghouseStateRequest = z.infer<typeof ClearinghouseStateRequest>

export const clearinghouseState = defineQuery({
  type: 'clearinghouseState',
  summary: "A user's perp account on one DEX, or on all DEXes (`*`, `ALL_DEXES`)",
  example: { request: { user: USER, dex: '' }, response: PERP_STATE },
  request: ClearinghouseStateRequest,
  response: () => PerpStates,
  price: ({ dex }: ClearinghouseStateRequest) => (isAllDexes(dex) ? ALL_DEXES_PRICE : ONE_CREDIT),
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes', 'after'],
  resolve: perpState,
})
