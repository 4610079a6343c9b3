// tokenAnnotation: annotation of a spot token by its deployer; null if there is none. Same response as the exchange's
// API.

import * as z from 'zod'
import { ConciseAnnotation, EXAMPLE_TOKEN_ANNOTATION } from '../../protocol/info/market-shapes.ts'
import { SpotToken } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const tokenAnnotation = passThroughQuery({
  type: 'tokenAnnotation',
  summary: "A deployer's annotation of a spot token",
  example: {
    request: { token: 150 },
    response: { ...EXAMPLE_TOKEN_ANNOTATION, description: 'The token of the chain' },
  },
  request: z.object({
    type: z.literal('tokenAnnotation'),
    token: SpotToken,
  }),
  response: () => ConciseAnnotation.extend({ description: z.string().optional() }).nullable(),
  freshness: { class: 'fixed' },
})
