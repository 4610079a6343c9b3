// maxMarketOrderNtls: the largest market order by maximum leverage, highest leverage first. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const maxMarketOrderNtls = passThroughQuery({
  type: 'maxMarketOrderNtls',
  summary: 'The largest market order by maximum leverage',
  example: {
    request: {},
    response: [
      [50, '15000000.0'],
      [20, '5000000.0'],
    ],
  },
  request: z.object({ type: z.literal('maxMarketOrderNtls') }),
  response: z.array(
    z.tuple([z.int().describe('Maximum leverage'), Decimal.describe('Largest notional of a market order')]),
  ),
  freshness: { class: 'fixed' },
})
