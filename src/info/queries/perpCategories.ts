// perpCategories: the perps that have a category. Wire-equal.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const PerpCategoriesRequest = z.object({ type: z.literal('perpCategories') })

export const perpCategories = defineQuery({
  type: 'perpCategories',
  summary: 'The category of every perp that has one',
  example: { request: {}, response: [['xyz:GOLD', 'commodities']] },
  request: PerpCategoriesRequest,
  response: z.array(z.tuple([z.string().describe('Coin'), z.string().describe('Category')])),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
