// maxMarketOrderNtls: maximum notional of a market order by maximum leverage, highest leverage first. Same response as
// the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const maxMarketOrderNtls = bareQuery({
  type: 'maxMarketOrderNtls',
  summary: 'Maximum notional of a market order at each leverage',
  example: [
    [50, '15000000.0'],
    [20, '5000000.0'],
  ],
  response: () =>
    z.array(z.tuple([z.int().describe('Maximum leverage'), Decimal.describe('Largest notional of a market order')])),
  freshness: { class: 'fixed' },
})
