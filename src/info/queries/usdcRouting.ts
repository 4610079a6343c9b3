// usdcRouting: the way that USDC takes to the exchange and back. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { bareQuery } from '../sources/pass-through.ts'

const Route = openEnum('bridge', 'cctp')

export const usdcRouting = bareQuery({
  type: 'usdcRouting',
  summary: 'The way of USDC to the exchange and back',
  example: { depositRoute: 'cctp', withdrawalRoute: 'bridge' },
  response: z.looseObject({ depositRoute: Route, withdrawalRoute: Route }),
  freshness: { class: 'fixed' },
})
