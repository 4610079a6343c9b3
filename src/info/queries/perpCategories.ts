// perpCategories: the perps that have a category. Wire-equal.

import * as z from 'zod'
import { bareQuery } from '../sources/pass-through.ts'

export const perpCategories = bareQuery({
  type: 'perpCategories',
  summary: 'The category of every perp that has one',
  example: [['xyz:GOLD', 'commodities']],
  response: z.array(z.tuple([z.string().describe('Coin'), z.string().describe('Category')])),
  freshness: { class: 'fixed' },
})
