// perpAnnotation: what the deployer of a perp says about it, null where nothing is said. Wire-equal.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_ANNOTATION } from '../../protocol/info/market-shapes.ts'
import { Market } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const perpAnnotation = passThroughQuery({
  type: 'perpAnnotation',
  summary: 'What the deployer of a perp says about it',
  example: {
    request: { coin: 'xyz:GOLD' },
    response: { ...EXAMPLE_ANNOTATION, description: 'The price of an ounce of gold' },
  },
  request: z.object({
    type: z.literal('perpAnnotation'),
    coin: Market,
  }),
  response: ConciseAnnotation.extend({ description: z.string() }).nullable(),
  freshness: { class: 'fixed' },
})
