// marginTable: one margin table of a DEX by its id. Wire-equal.

import * as z from 'zod'
import { passThroughOnDex } from '../known-dex.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Dex } from '../request-fields.ts'
import { MarginTable } from '../shapes.ts'

const MarginTableRequest = z.object({ type: z.literal('marginTable'), id: z.int().min(0), dex: Dex })

export const marginTable = defineQuery({
  type: 'marginTable',
  summary: 'A margin table by its id',
  example: {
    request: { id: 20 },
    response: { description: '', marginTiers: [{ lowerBound: '0.0', maxLeverage: 20 }] },
  },
  request: MarginTableRequest,
  response: MarginTable.nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream', 'dexes'],
  resolve: passThroughOnDex,
})
