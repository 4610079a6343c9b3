// Fills as responses show them. Recordings of 2023 lack the token and the trade id; `dir` is display text and open.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

/** One execution of one order of the user who was asked for; `fee` is negative for a rebate. */
export const Fill = z
  .looseObject({
    coin: z.string(),
    px: Decimal,
    sz: Decimal,
    side: z.enum(['B', 'A']),
    time: z.int(),
    startPosition: Decimal,
    dir: z.string(),
    closedPnl: Decimal,
    hash: z.string(),
    oid: z.int(),
    crossed: z.boolean(),
    fee: Decimal,
    builderFee: Decimal.optional(),
    tid: z.int().optional(),
    cloid: z.string().nullish(),
    liquidation: z
      .looseObject({ liquidatedUser: z.string().optional(), markPx: Decimal, method: z.string() })
      .optional(),
    feeToken: z.string().optional(),
    twapId: z.int().nullish(),
  })
  .meta({ id: 'Fill' })

/** A fill of a slice of a TWAP order. */
export const TwapSliceFill = z.looseObject({ fill: Fill, twapId: z.int() }).meta({ id: 'TwapSliceFill' })
