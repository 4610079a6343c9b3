// perpCategories: categories of perps, except perps that have none. Same response as the exchange's API.

import * as z from 'zod'
import { bareQuery } from '../sources/pass-through.ts'

export const perpCategories = bareQuery({
  type: 'perpCategories',
  summary: 'Categories of perps',
  example: [['xyz:GOLD', 'commodities']],
  response: () => z.array(z.tuple([z.string().describe('Coin'), z.string().describe('Category')])),
  freshness: { class: 'fixed' },
})
