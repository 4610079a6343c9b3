// metaAndAssetCtxs: the markets of one perp DEX and, index by index, what they trade at. Wire-equal.
// Prices move with the oracle, about every three seconds; a context without a book has nulls.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal, PerpMeta } from '../shapes/common-shapes.ts'
import { PERP_META } from '../shapes/examples.ts'
import { Dex } from '../shapes/request-fields.ts'
import { passThroughOnDex } from '../sources/known-dex.ts'

const MetaAndAssetCtxsRequest = z.object({ type: z.literal('metaAndAssetCtxs'), dex: Dex })

const AssetCtx = z.looseObject({
  funding: Decimal,
  openInterest: Decimal,
  prevDayPx: Decimal,
  dayNtlVlm: Decimal,
  premium: Decimal.nullable(),
  oraclePx: Decimal,
  markPx: Decimal,
  midPx: Decimal.nullish(),
  impactPxs: z.array(Decimal).nullish(),
  dayBaseVlm: Decimal.optional(),
})

const EXAMPLE_CTX = {
  funding: '0.0000125',
  openInterest: '1234.5',
  prevDayPx: '80000.0',
  dayNtlVlm: '1000000.0',
  premium: '0.0001',
  oraclePx: '81300.0',
  markPx: '81307.0',
  midPx: '81306.5',
  impactPxs: ['81306.0', '81307.0'],
  dayBaseVlm: '12.3',
}

export const metaAndAssetCtxs = defineQuery({
  type: 'metaAndAssetCtxs',
  summary: 'The markets of one perp DEX with prices, funding and open interest',
  example: { request: { dex: '' }, response: [PERP_META, [EXAMPLE_CTX]] },
  request: MetaAndAssetCtxsRequest,
  response: z.tuple([PerpMeta, z.array(AssetCtx)]),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream', 'dexes'],
  resolve: passThroughOnDex,
})
