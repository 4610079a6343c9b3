// Published shape of fills in responses and frames. The feed itself accepts any fill that a node writes (`Fill` in
// block.ts). Recordings from 2023 lack the token and the trade id. `dir` is meant for display.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Address, Decimal, TxHash } from './block.ts'

/** Client order id. */
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
  'Negate Outcome',
  'Settlement',
  'Auto-Deleveraging',
)

/** One execution of an order of the requested user. `fee` is negative for a rebate. */
export const PublicFill = z
  .looseObject({
    coin: z.string(),
    px: Decimal,
    sz: Decimal,
    side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
    time: z.int(),
    startPosition: Decimal.describe('Position before the fill, negative for a short'),
    dir: Dir.describe('Direction, such as `Open Long`'),
    closedPnl: Decimal.describe('Realized profit before fees, in the quote token'),
    hash: TxHash,
    oid: z.int().describe('Order id'),
    crossed: z.boolean().describe('Whether the order took liquidity'),
    fee: Decimal.describe('Fee in `feeToken`; negative for a rebate'),
    builderFee: Decimal.optional(),
    tid: z.int().optional().describe('Trade id, shared by its two fills'),
    cloid: Cloid.nullish().describe('Client order id'),
    liquidation: z
      .looseObject({
        liquidatedUser: Address.optional(),
        markPx: Decimal,
        method: openEnum('market', 'backstop').describe('Liquidation method: `market` or `backstop`'),
      })
      .optional()
      .describe('Liquidation details, on fills of a liquidation'),
    feeToken: z.string().optional(),
    feeTrialEscrow: Decimal.optional().describe('Fees held in escrow until a fee trial ends'),
    twapId: z.int().nullish().describe('TWAP order id; null: none'),
  })
  .meta({ id: 'Fill' })
