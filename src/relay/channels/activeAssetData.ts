// activeAssetData: what a user can buy and sell of one perp now.

import * as z from 'zod'
import { marketTypeOf } from '../../core/coin.ts'
import { CoinName } from '../../protocol/feed/block.ts'
import { ActiveAssetData, EXAMPLE_ACTIVE_ASSET } from '../../protocol/info/active-asset-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { WalletAddress } from '../body-fields.ts'
import { userStateChannel } from '../states/user-state.ts'

const TYPE = 'activeAssetData'

export const activeAssetData = userStateChannel({
  type: TYPE,
  summary: 'What a user can buy and sell of a perp',
  request: z.strictObject({
    type: z.literal(TYPE),
    user: WalletAddress,
    coin: CoinName.refine((coin) => marketTypeOf(coin) === 'perp', 'must be a perp').describe(
      'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
    ),
  }),
  data: ActiveAssetData,
  example: { request: { user: USER, coin: 'BTC' }, data: EXAMPLE_ACTIVE_ASSET },
  coin: ({ coin }) => coin,
  ask: ({ user, coin }) => ({ type: TYPE, user, coin }),
  show: (_, { text }) => text,
})
