// perpDexLimits: the caps of a builder-deployed DEX. Null for the main DEX and for one that does not exist. Wire-equal.

import * as z from 'zod'
import { AmountByCoin, Decimal } from '../../protocol/info/common-shapes.ts'
import { DexName } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const PerpDexLimitsRequest = z.object({ type: z.literal('perpDexLimits'), dex: DexName })

const PerpDexLimits = z.looseObject({
  totalOiCap: Decimal,
  oiSzCapPerPerp: Decimal,
  maxTransferNtl: Decimal,
  coinToOiCap: AmountByCoin,
})

export const perpDexLimits = defineQuery({
  type: 'perpDexLimits',
  summary: 'The caps of a builder-deployed DEX',
  example: {
    request: { dex: 'xyz' },
    response: {
      totalOiCap: '10000000.0',
      oiSzCapPerPerp: '10000000000.0',
      maxTransferNtl: '100000000.0',
      coinToOiCap: [['xyz:GOLD', '1000000.0']],
    },
  },
  request: PerpDexLimitsRequest,
  response: PerpDexLimits.nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  resolve: passThrough,
})
