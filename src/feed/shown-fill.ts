// Fills as answers and frames show them, to be published. The feed itself takes whatever a node writes (`Fill` of block.ts).
// Recordings of 2023 lack the token and the trade id; `dir` is display text.

import * as z from 'zod'
import { openEnum } from '../core/open-kinds.ts'
import { Address, Decimal, TxHash } from './block.ts'

/** The client's own id of an order. */
export const Cloid = z.string().regex(/^0x[0-9a-f]{32}$/)

const Dir = openEnum(
  'Open Long',
  'Open Short',
  'Close Long',
  'Close Short',
  'Long > Short',
  'Short > Long',
  'Buy',
  'Sell',
  'Spot Dust Conversion',
  'Net Child Vaults',
  'Split Outcome',
  'Merge Outcome',
  'Merge Question',
)

/** One execution of one order of the user who was asked for; `fee` is negative for a rebate. */
export const ShownFill = z
  .looseObject({
    coin: z.string(),
    px: Decimal,
    sz: Decimal,
    side: z.enum(['B', 'A']),
    time: z.int(),
    startPosition: Decimal,
    dir: Dir,
    closedPnl: Decimal,
    hash: TxHash,
    oid: z.int(),
    crossed: z.boolean(),
    fee: Decimal,
    builderFee: Decimal.optional(),
    tid: z.int().optional(),
    cloid: Cloid.nullish(),
    liquidation: z
      .looseObject({
        liquidatedUser: Address.optional(),
        markPx: Decimal,
        method: openEnum('market', 'backstop'),
      })
      .optional(),
    feeToken: z.string().optional(),
    feeTrialEscrow: Decimal.optional(),
    twapId: z.int().nullish(),
  })
  .meta({ id: 'Fill' })
