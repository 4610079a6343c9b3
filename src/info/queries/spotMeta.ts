// spotMeta: the spot pairs and tokens. Wire-equal.

import * as z from 'zod'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const spotMeta = passThroughQuery({
  type: 'spotMeta',
  summary: 'The spot pairs and tokens',
  example: { request: {}, response: SPOT_META },
  request: z.object({ type: z.literal('spotMeta') }),
  response: SpotMeta,
  freshness: { class: 'fixed' },
})
