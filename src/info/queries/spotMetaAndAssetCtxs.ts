// spotMetaAndAssetCtxs: the spot pairs and tokens, and what they trade at. Wire-equal. Contexts carry their own `coin`:
// their order may differ from the universe.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { SPOT_META } from '../shapes/examples.ts'
import { SpotMeta } from '../shapes/spot-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const SpotMetaAndAssetCtxsRequest = z.object({ type: z.literal('spotMetaAndAssetCtxs') })

const SpotAssetCtx = z.looseObject({
  prevDayPx: Decimal,
  dayNtlVlm: Decimal,
  markPx: Decimal,
  midPx: Decimal.nullish(),
  circulatingSupply: Decimal,
  coin: z.string(),
})

const EXAMPLE_CTX = {
  prevDayPx: '0.2',
  dayNtlVlm: '1000.0',
  markPx: '0.21',
  midPx: '0.21',
  circulatingSupply: '500000000.0',
  coin: 'PURR/USDC',
  totalSupply: '600000000.0',
  dayBaseVlm: '4800.0',
}

export const spotMetaAndAssetCtxs = defineQuery({
  type: 'spotMetaAndAssetCtxs',
  summary: 'The spot pairs and tokens with prices',
  example: { request: {}, response: [SPOT_META, [EXAMPLE_CTX]] },
  request: SpotMetaAndAssetCtxsRequest,
  response: z.tuple([SpotMeta, z.array(SpotAssetCtx)]),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
