// perpConciseAnnotations: what deployers say about their perps, without the descriptions. Wire-equal.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_ANNOTATION } from '../../protocol/info/annotation-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const perpConciseAnnotations = passThroughQuery({
  type: 'perpConciseAnnotations',
  summary: 'What deployers say about their perps, in short',
  example: { request: {}, response: [['xyz:GOLD', EXAMPLE_ANNOTATION]] },
  request: z.object({ type: z.literal('perpConciseAnnotations') }),
  response: z.array(z.tuple([z.string().describe('Coin'), ConciseAnnotation.describe('Annotation by the deployer')])),
  freshness: { class: 'fixed' },
})
