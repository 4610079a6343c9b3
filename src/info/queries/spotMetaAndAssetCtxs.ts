// spotMetaAndAssetCtxs: the spot pairs and tokens, and what they trade at. Wire-equal. Contexts carry their own `coin`:
// their order may differ from the universe.

import * as z from 'zod'
import { EXAMPLE_SPOT_CTX, SpotAssetCtx } from '../../protocol/info/ctx-shapes.ts'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
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
