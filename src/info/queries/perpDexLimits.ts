// perpDexLimits: limits of a builder-deployed DEX; null for the main DEX and for unknown DEXes. Same response as the
// exchange's API.

import * as z from 'zod'
import { AmountByCoin, Decimal } from '../../protocol/info/common-shapes.ts'
import { DexName } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const PerpDexLimits = () =>
  z.looseObject({
    totalOiCap: Decimal,
    oiSzCapPerPerp: Decimal,
    maxTransferNtl: Decimal,
    coinToOiCap: AmountByCoin,
  })

export const perpDexLimits = passThroughQuery({
  type: 'perpDexLimits',
  summary: 'Limits of a builder-deployed DEX',
  example: {
    request: { dex: 'xyz' },
    response: {
      totalOiCap: '10000000.0',
      oiSzCapPerPerp: '10000000000.0',
      maxTransferNtl: '100000000.0',
      coinToOiCap: [['xyz:GOLD', '1000000.0']],
    },
  },
  request: z.object({ type: z.literal('perpDexLimits'), dex: DexName }),
  response: () => PerpDexLimits().nullable(),
  freshness: { class: 'fixed' },
})
