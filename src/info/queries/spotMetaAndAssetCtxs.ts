// spotMetaAndAssetCtxs: spot pairs and tokens with market data. Same response as the exchange's API, except while it
// names a token that it does not list: then a response of the last ten seconds is served if there is one, because older
// prices would be worse. Match market data by `coin`, because its order may differ from the universe.

import * as z from 'zod'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { EXAMPLE_SPOT_CTX, SpotAssetCtx } from '../../protocol/info/market-shapes.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { defineQuery } from '../query.ts'
import { passSpotListing } from '../sources/spot-listing.ts'

export const spotMetaAndAssetCtxs = defineQuery({
  type: 'spotMetaAndAssetCtxs',
  summary: 'Spot pairs and tokens, with prices',
  example: { request: {}, response: [SPOT_META, [EXAMPLE_SPOT_CTX]] },
  request: z.object({ type: z.literal('spotMetaAndAssetCtxs') }),
  response: () =>
    z.tuple([SpotMeta.describe('Pairs and tokens'), z.array(SpotAssetCtx).describe('Market data by `coin`')]),
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: (request, from) =>
    passSpotListing(request, from, (response) => (Array.isArray(response) ? response[0] : undefined)),
})
