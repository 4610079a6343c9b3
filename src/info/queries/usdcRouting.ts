// usdcRouting: the way that USDC takes to the exchange and back. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const Route = openEnum('bridge', 'cctp')

export const usdcRouting = passThroughQuery({
  type: 'usdcRouting',
  summary: 'The way of USDC to the exchange and back',
  example: { request: {}, response: { depositRoute: 'cctp', withdrawalRoute: 'bridge' } },
  request: z.object({ type: z.literal('usdcRouting') }),
  response: z.looseObject({ depositRoute: Route, withdrawalRoute: Route }),
  freshness: { class: 'fixed' },
})
