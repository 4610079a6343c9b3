// usdcRouting: the way that USDC takes to the exchange and back. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const UsdcRoutingRequest = z.object({ type: z.literal('usdcRouting') })

const Route = openEnum('bridge', 'cctp')

export const usdcRouting = defineQuery({
  type: 'usdcRouting',
  summary: 'The way of USDC to the exchange and back',
  example: { request: {}, response: { depositRoute: 'cctp', withdrawalRoute: 'bridge' } },
  request: UsdcRoutingRequest,
  response: z.looseObject({ depositRoute: Route, withdrawalRoute: Route }),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
