// perpCategories: the perps that have a category. Wire-equal.

import * as z from 'zod'
import { passThroughQuery } from '../sources/pass-through.ts'

export const perpCategories = passThroughQuery({
  type: 'perpCategories',
  summary: 'The category of every perp that has one',
  example: { request: {}, response: [['xyz:GOLD', 'commodities']] },
  request: z.object({ type: z.literal('perpCategories') }),
  response: z.array(z.tuple([z.string().describe('Coin'), z.string().describe('Category')])),
  freshness: { class: 'fixed' },
})
