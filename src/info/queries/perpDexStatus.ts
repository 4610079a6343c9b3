// perpDexStatus: net deposits on one perp DEX, in USDC. Same response as the exchange's API.

import * as z from 'zod'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { DexName } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const perpDexStatus = passThroughOnDexQuery({
  type: 'perpDexStatus',
  summary: 'Net deposits on a perp DEX',
  example: { request: { dex: '' }, response: { totalNetDeposit: '3126723996.6663417816' } },
  request: z.object({ type: z.literal('perpDexStatus'), dex: DexName }),
  response: () => z.looseObject({ totalNetDeposit: Decimal.describe('Net deposits on the DEX, in USDC') }),
  freshness: { class: 'tick' },
})
