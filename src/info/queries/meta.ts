// meta: markets of one perp DEX. Same response as the exchange's API.

import * as z from 'zod'
import { PerpMeta } from '../../protocol/info/common-shapes.ts'
import { PERP_META } from '../../protocol/info/examples.ts'
import { Dex } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const meta = passThroughOnDexQuery({
  type: 'meta',
  summary: 'Markets of one perp DEX',
  example: { request: { dex: '' }, response: PERP_META },
  request: z.object({ type: z.literal('meta'), dex: Dex }),
  response: () => PerpMeta,
  freshness: { class: 'fixed' },
})
