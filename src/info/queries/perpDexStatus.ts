// perpDexStatus: what lies on one perp DEX, in USDC. Wire-equal.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { DexName } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThroughOnDex } from '../sources/known-dex.ts'

export const perpDexStatus = defineQuery({
  type: 'perpDexStatus',
  summary: 'What lies on a perp DEX',
  example: { request: { dex: '' }, response: { totalNetDeposit: '3126723996.6663417816' } },
  request: z.object({ type: z.literal('perpDexStatus'), dex: DexName }),
  response: z.looseObject({ totalNetDeposit: Decimal.describe('Net deposits on the DEX, in USDC') }),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream', 'dexes'],
  resolve: passThroughOnDex,
})
