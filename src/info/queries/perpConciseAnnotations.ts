// perpConciseAnnotations: annotations of perps by their deployers, without descriptions. Same response as the
// exchange's API.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_ANNOTATION } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const perpConciseAnnotations = bareQuery({
  type: 'perpConciseAnnotations',
  summary: 'Short annotations of perps, with descriptions omitted',
  example: [['xyz:GOLD', EXAMPLE_ANNOTATION]],
  response: () =>
    z.array(z.tuple([z.string().describe('Coin'), ConciseAnnotation.describe('Annotation by the deployer')])),
  freshness: { class: 'fixed' },
})
