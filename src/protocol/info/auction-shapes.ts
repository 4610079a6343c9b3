// The gas auctions in which rights to deploy are sold: the price decays from `startGas` until somebody pays it.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

/** `currentGas` is null once the auction has ended, `endGas` while it is active. */
export const GasAuction = z
  .looseObject({
    startTimeSeconds: z.int(),
    durationSeconds: z.int(),
    startGas: Decimal,
    currentGas: Decimal.nullable().describe('Current price; null: auction over'),
    endGas: Decimal.nullable().describe('Final price; null: auction running'),
  })
  .meta({ id: 'GasAuction' })
