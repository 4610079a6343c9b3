// spotMeta: the spot pairs and tokens. Wire-equal.

import * as z from 'zod'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const SpotMetaRequest = z.object({ type: z.literal('spotMeta') })

export const spotMeta = defineQuery({
  type: 'spotMeta',
  summary: 'The spot pairs and tokens',
  example: { request: {}, response: SPOT_META },
  request: SpotMetaRequest,
  response: SpotMeta,
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
