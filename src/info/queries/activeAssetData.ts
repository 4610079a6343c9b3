// activeAssetData: leverage and maximum trade sizes of a user for one coin. Same response as the exchange's API.

import * as z from 'zod'
import { ActiveAssetData, EXAMPLE_ACTIVE_ASSET } from '../../protocol/info/account-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { Market, UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const activeAssetData = passThroughQuery({
  type: 'activeAssetData',
  summary: "A user's leverage and maximum trade sizes for a coin",
  example: { request: { user: USER, coin: 'BTC' }, response: EXAMPLE_ACTIVE_ASSET },
  request: z.object({
    type: z.literal('activeAssetData'),
    user: UserAddress,
    coin: Market,
  }),
  response: () => ActiveAssetData,
  freshness: { class: 'user' },
})
