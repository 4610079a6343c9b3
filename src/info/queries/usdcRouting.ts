// usdcRouting: routes of USDC deposits and withdrawals. Same response as the exchange's API.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { bareQuery } from '../sources/pass-through.ts'

const Route = () => openEnum('bridge', 'cctp')

export const usdcRouting = bareQuery({
  type: 'usdcRouting',
  summary: 'Routes of USDC deposits and withdrawals',
  example: { depositRoute: 'cctp', withdrawalRoute: 'bridge' },
  response: () => z.looseObject({ depositRoute: Route(), withdrawalRoute: Route() }),
  freshness: { class: 'fixed' },
})
