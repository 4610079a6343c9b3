// perpsAtOpenInterestCap: the coins of one DEX whose open interest stands at its cap. Wire-equal.

import * as z from 'zod'
import { Dex } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThroughOnDex } from '../sources/known-dex.ts'

export const perpsAtOpenInterestCap = defineQuery({
  type: 'perpsAtOpenInterestCap',
  summary: 'Coins at their cap of open interest',
  example: { request: { dex: '' }, response: ['BTC'] },
  request: z.object({ type: z.literal('perpsAtOpenInterestCap'), dex: Dex }),
  response: z.array(z.string()),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream', 'dexes'],
  resolve: passThroughOnDex,
})
