// marginTable: margin table of a DEX by id. Same response as the exchange's API.

import * as z from 'zod'
import { MarginTable } from '../../protocol/info/common-shapes.ts'
import { Dex } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const marginTable = passThroughOnDexQuery({
  type: 'marginTable',
  summary: 'A margin table, looked up by id',
  example: {
    request: { id: 20 },
    response: { description: '', marginTiers: [{ lowerBound: '0.0', maxLeverage: 20 }] },
  },
  request: z.object({
    type: z.literal('marginTable'),
    id: z.int().min(0).describe('Margin table id'),
    dex: Dex,
  }),
  response: () => MarginTable.nullable(),
  freshness: { class: 'fixed' },
})
