// spotMeta: spot pairs and tokens. Same response as the exchange's API.

import { SPOT_META } from '../../protocol/info/examples.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const spotMeta = bareQuery({
  type: 'spotMeta',
  summary: 'Spot pairs and tokens',
  example: SPOT_META,
  response: () => SpotMeta,
  freshness: { class: 'fixed' },
})
