// spotMeta: spot pairs and tokens. Same response as the exchange's API, except while it names a token that it does not
// list: then an older response is served if there is one.

import * as z from 'zod'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { defineQuery } from '../query.ts'
import { passSpotListing } from '../sources/spot-listing.ts'

export const spotMeta = defineQuery({
  type: 'spotMeta',
  summary: 'Spot pairs and tokens',
  example: { request: {}, response: SPOT_META },
  request: z.object({ type: z.literal('spotMeta') }),
  response: () => SpotMeta,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: (request, from) => passSpotListing(request, from, (meta) => meta),
})
