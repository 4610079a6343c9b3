// perpAnnotation: what the deployer of a perp says about it, null where nothing is said. Wire-equal.

import * as z from 'zod'
import { CoinName } from '../../protocol/feed/block.ts'
import { ConciseAnnotation, EXAMPLE_ANNOTATION } from '../../protocol/info/annotation-shapes.ts'
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
    coin: CoinName.describe(
      'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
    ),
  }),
  response: ConciseAnnotation.extend({ description: z.string() }).nullable(),
  freshness: { class: 'fixed' },
})
