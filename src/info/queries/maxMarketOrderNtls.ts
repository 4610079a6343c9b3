// maxMarketOrderNtls: the largest market order by maximum leverage, highest leverage first. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const MaxMarketOrderNtlsRequest = z.object({ type: z.literal('maxMarketOrderNtls') })

export const maxMarketOrderNtls = defineQuery({
  type: 'maxMarketOrderNtls',
  summary: 'The largest market order by maximum leverage',
  example: {
    request: {},
    response: [
      [50, '15000000.0'],
      [20, '5000000.0'],
    ],
  },
  request: MaxMarketOrderNtlsRequest,
  response: z.array(
    z.tuple([z.int().describe('Maximum leverage'), Decimal.describe('Largest notional of a market order')]),
  ),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
