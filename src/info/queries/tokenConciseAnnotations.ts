// tokenConciseAnnotations: annotations of spot tokens by their deployers, without descriptions. Same response as the
// exchange's API.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_TOKEN_ANNOTATION } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const tokenConciseAnnotations = bareQuery({
  type: 'tokenConciseAnnotations',
  summary: 'Short annotations of spot tokens, with descriptions omitted',
  example: [[150, EXAMPLE_TOKEN_ANNOTATION]],
  response: () =>
    z.array(
      z.tuple([z.int().describe('Index of the spot token'), ConciseAnnotation.describe('Annotation by the deployer')]),
    ),
  freshness: { class: 'fixed' },
})
