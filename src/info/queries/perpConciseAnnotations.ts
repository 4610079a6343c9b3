// perpConciseAnnotations: what deployers say about their perps, without the descriptions. Wire-equal.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_ANNOTATION } from '../../protocol/info/annotation-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const PerpConciseAnnotationsRequest = z.object({ type: z.literal('perpConciseAnnotations') })

export const perpConciseAnnotations = defineQuery({
  type: 'perpConciseAnnotations',
  summary: 'What deployers say about their perps, in short',
  example: { request: {}, response: [['xyz:GOLD', EXAMPLE_ANNOTATION]] },
  request: PerpConciseAnnotationsRequest,
  response: z.array(z.tuple([z.string().describe('Coin'), ConciseAnnotation.describe('Annotation by the deployer')])),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
