// spotMeta: the spot pairs and tokens. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { SPOT_META } from '../shapes/examples.ts'
import { SpotMeta } from '../shapes/spot-shapes.ts'
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
