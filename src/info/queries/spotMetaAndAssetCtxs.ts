// spotMetaAndAssetCtxs: spot pairs and tokens with market data. Same response as the exchange's API. Match market data
// by `coin`, because its order may differ from the universe.

import * as z from 'zod'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { EXAMPLE_SPOT_CTX, SpotAssetCtx } from '../../protocol/info/market-shapes.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const spotMetaAndAssetCtxs = bareQuery({
  type: 'spotMetaAndAssetCtxs',
  summary: 'Spot pairs and tokens, with prices',
  example: [SPOT_META, [EXAMPLE_SPOT_CTX]],
  response: () =>
    z.tuple([SpotMeta.describe('Pairs and tokens'), z.array(SpotAssetCtx).describe('Market data by `coin`')]),
  freshness: { class: 'tick' },
})
