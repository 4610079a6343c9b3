// metaAndAssetCtxs: markets of one perp DEX and, by index, their market data. Same response as the exchange's API.
// Prices change with the oracle, about every three seconds; the market data of a coin that has no book contains nulls.

import * as z from 'zod'
import { PerpMeta } from '../../protocol/info/common-shapes.ts'
import { PERP_META } from '../../protocol/info/examples.ts'
import { EXAMPLE_PERP_CTX, PerpAssetCtx } from '../../protocol/info/market-shapes.ts'
import { Dex } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const metaAndAssetCtxs = passThroughOnDexQuery({
  type: 'metaAndAssetCtxs',
  summary: 'Markets of one perp DEX, with prices, funding and open interest',
  example: { request: { dex: '' }, response: [PERP_META, [EXAMPLE_PERP_CTX]] },
  request: z.object({ type: z.literal('metaAndAssetCtxs'), dex: Dex }),
  response: () =>
    z.tuple([PerpMeta.describe('Markets'), z.array(PerpAssetCtx).describe('Market data in universe order')]),
  freshness: { class: 'tick' },
})
