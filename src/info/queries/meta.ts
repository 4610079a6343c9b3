// meta: the markets of one perp DEX, as the exchange lists them. Wire-equal.

import * as z from 'zod'
import { PerpMeta } from '../../protocol/info/common-shapes.ts'
import { PERP_META } from '../../protocol/info/examples.ts'
import { Dex } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThroughOnDex } from '../sources/known-dex.ts'

export const meta = defineQuery({
  type: 'meta',
  summary: 'The markets of one perp DEX',
  example: { request: { dex: '' }, response: PERP_META },
  request: z.object({ type: z.literal('meta'), dex: Dex }),
  response: PerpMeta,
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream', 'dexes'],
  resolve: passThroughOnDex,
})
