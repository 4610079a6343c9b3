// activeAssetData: what a user can trade of one coin now: leverage, and how much to buy and to sell. Wire-equal.

import * as z from 'zod'
import { ActiveAssetData, EXAMPLE_ACTIVE_ASSET } from '../../protocol/info/account-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { Market, UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const activeAssetData = passThroughQuery({
  type: 'activeAssetData',
  summary: 'What a user can buy and sell of a coin now',
  example: { request: { user: USER, coin: 'BTC' }, response: EXAMPLE_ACTIVE_ASSET },
  request: z.object({
    type: z.literal('activeAssetData'),
    user: UserAddress,
    coin: Market,
  }),
  response: ActiveAssetData,
  freshness: { class: 'user' },
})
