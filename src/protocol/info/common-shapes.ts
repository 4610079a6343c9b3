// Shapes shared by several responses. They are loose where the exchange may add fields; unknown fields pass through.

import * as z from 'zod'
import { kindsBy, openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../feed/block.ts'

const INT = z.int()

export { Decimal }

/** UTC time with nanoseconds and no zone suffix. The node writes times that are not in milliseconds in this form. */
export const NanoTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?$/)

/** How a user's balances are unified. `dexAbstraction` is obsolete. */
export const Abstraction = openEnum('unifiedAccount', 'portfolioMargin', 'disabled', 'default', 'dexAbstraction')

/** Rows of `[coin or token, amount]`. */
export const AmountByCoin = z.array(z.tuple([z.string().describe('Coin'), Decimal.describe('Amount')]))
export const AmountByToken = z.array(z.tuple([INT.describe('Token index'), Decimal.describe('Amount')]))

const Level = z
  .object({ px: Decimal, sz: Decimal, n: INT.describe('Orders at this price; 0 with size `"0"`: level removed') })
  .meta({ id: 'Level' })

/** `[bids, asks]`, best first. */
export const BookLevels = z.tuple([
  z.array(Level).describe('Bids, best first'),
  z.array(Level).describe('Asks, best first'),
])

const MarginSummary = z.looseObject({
  accountValue: Decimal.describe('Equity in the collateral token'),
  totalNtlPos: Decimal.describe('Notional of all positions'),
  totalRawUsd: Decimal.describe('Collateral less the cost of open positions'),
  totalMarginUsed: Decimal,
})

/** Leverage of a position. `rawUsd` is the cash of an isolated position, negative if borrowed. */
const Leverage = kindsBy('type', {
  cross: { value: INT.describe('Leverage factor') },
  isolated: { value: INT.describe('Leverage factor'), rawUsd: Decimal.describe('Collateral of an isolated position') },
})

const Position = z.looseObject({
  coin: z.string(),
  szi: Decimal.describe('Size, negative for a short'),
  leverage: Leverage,
  entryPx: Decimal,
  positionValue: Decimal.describe('Notional at the mark price'),
  unrealizedPnl: Decimal,
  returnOnEquity: Decimal,
  liquidationPx: Decimal.nullable().describe('Liquidation price; null if there is none'),
  marginUsed: Decimal,
  maxLeverage: INT.optional(),
  cumFunding: z.looseObject({ allTime: Decimal, sinceOpen: Decimal, sinceChange: Decimal }).optional(),
})

/** One account on one perp DEX. */
export const PerpState = z
  .looseObject({
    marginSummary: MarginSummary,
    crossMarginSummary: MarginSummary,
    crossMaintenanceMarginUsed: Decimal.optional(),
    withdrawable: Decimal,
    assetPositions: z.array(
      z.looseObject({ type: openEnum('oneWay').describe('Kind of position'), position: Position }),
    ),
    time: INT.optional(),
  })
  .meta({ id: 'PerpState' })

/** Leverage limits by notional size, lowest tier first. */
export const MarginTable = z
  .looseObject({
    description: z.string(),
    marginTiers: z
      .array(z.looseObject({ lowerBound: Decimal.describe('Minimum notional of the tier'), maxLeverage: INT }))
      .describe('Leverage tiers by notional'),
  })
  .meta({ id: 'MarginTable' })

/** Flags that are off are omitted. `deployerFeeScale` scales the fees of a builder-deployed market. */
const Asset = z.looseObject({
  szDecimals: INT,
  name: z.string(),
  maxLeverage: INT,
  marginTableId: INT.optional(),
  onlyIsolated: z.boolean().optional(),
  isDelisted: z.boolean().optional(),
  marginMode: openEnum('strictIsolated', 'noCross').optional(),
  growthMode: openEnum('enabled').optional(),
  lastGrowthModeChangeTime: NanoTime.optional(),
  lastFeeScaleChangeTime: NanoTime.nullish(),
  deployerFeeScale: Decimal.optional(),
})

/** Markets of one perp DEX. The position in `universe` is the asset index. */
export const PerpMeta = z
  .looseObject({
    universe: z.array(Asset).describe('Markets in index order'),
    marginTables: z.array(z.tuple([INT.describe('Margin table id'), MarginTable.describe('Margin table')])).optional(),
    collateralToken: INT.optional().describe('Spot token index of the collateral'),
  })
  .meta({ id: 'PerpMeta' })
