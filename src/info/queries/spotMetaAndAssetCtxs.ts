// spotMetaAndAssetCtxs: the spot pairs and tokens, and what they trade at. Wire-equal. Contexts carry their own `coin`:
// their order may differ from the universe.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { EXAMPLE_SPOT_CTX, SpotAssetCtx } from '../shapes/ctx-shapes.ts'
import { SPOT_META } from '../shapes/examples.ts'
import { SpotMeta } from '../shapes/spot-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const SpotMetaAndAssetCtxsRequest = z.object({ type: z.literal('spotMetaAndAssetCtxs') })

export const spotMetaAndAssetCtxs = defineQuery({
  type: 'spotMetaAndAssetCtxs',
  summary: 'The spot pairs and tokens with prices',
  example: { request: {}, response: [SPOT_META, [EXAMPLE_SPOT_CTX]] },
  request: SpotMetaAndAssetCtxsRequest,
  response: z.tuple([SpotMeta.describe('Pairs and tokens'), z.array(SpotAssetCtx).describe('Market data by `coin`')]),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
