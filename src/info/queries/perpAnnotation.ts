// perpAnnotation: annotation of a perp by its deployer; null if there is none. Same response as the exchange's API.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_ANNOTATION } from '../../protocol/info/market-shapes.ts'
import { Market } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const perpAnnotation = passThroughQuery({
  type: 'perpAnnotation',
  summary: "A deployer's annotation of a perp",
  example: {
    request: { coin: 'xyz:GOLD' },
    response: { ...EXAMPLE_ANNOTATION, description: 'The price of an ounce of gold' },
  },
  request: z.object({
    type: z.literal('perpAnnotation'),
    coin: Market,
  }),
  response: () => ConciseAnnotation.extend({ description: z.string() }).nullable(),
  freshness: { class: 'fixed' },
})
