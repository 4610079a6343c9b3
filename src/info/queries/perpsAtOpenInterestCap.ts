// perpsAtOpenInterestCap: coins of one DEX at their open interest cap. Same response as the exchange's API.

import * as z from 'zod'
import { Dex } from '../../protocol/info/request-fields.ts'
import { passThroughOnDexQuery } from '../sources/known-dex.ts'

export const perpsAtOpenInterestCap = passThroughOnDexQuery({
  type: 'perpsAtOpenInterestCap',
  summary: 'Coins at their open interest cap',
  example: { request: { dex: '' }, response: ['BTC'] },
  request: z.object({ type: z.literal('perpsAtOpenInterestCap'), dex: Dex }),
  response: () => z.array(z.string()),
  freshness: { class: 'tick' },
})
