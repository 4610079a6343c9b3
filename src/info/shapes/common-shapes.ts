// Shapes that several responses share. Loose where the exchange may add fields: what we do not know passes through.

import * as z from 'zod'
import { kindsBy, openEnum } from '../../core/open-kinds.ts'
import { Decimal } from '../../feed/block.ts'

const INT = z.int()

export { Decimal }

/** UTC to the nanosecond without a zone, as the node writes moments that are no milliseconds. */
export const NanoTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?$/)

/** How a user's balances are unified; `dexAbstraction` is of old. */
export const Abstraction = openEnum('unifiedAccount', 'portfolioMargin', 'disabled', 'default', 'dexAbstraction')

/** `[coin or token, amount]`, a row each. */
export const AmountByCoin = z.array(z.tuple([z.string(), Decimal]))
export const AmountByToken = z.array(z.tuple([INT, Decimal]))

const Level = z.object({ px: Decimal, sz: Decimal, n: INT }).meta({ id: 'Level' })

/** `[bids, asks]`, best first. */
export const BookLevels = z.tuple([z.array(Level), z.array(Level)])

const MarginSummary = z.looseObject({
  accountValue: Decimal,
  totalNtlPos: Decimal,
  totalRawUsd: Decimal,
  totalMarginUsed: Decimal,
})

/** Of a position; `rawUsd` is the cash set apart for an isolated one, below zero where it is borrowed. */
const Leverage = kindsBy('type', { cross: { value: INT }, isolated: { value: INT, rawUsd: Decimal } })

const Position = z.looseObject({
  coin: z.string(),
  szi: Decimal,
  leverage: Leverage,
  entryPx: Decimal,
  positionValue: Decimal,
  unrealizedPnl: Decimal,
  returnOnEquity: Decimal,
  liquidationPx: Decimal.nullable(),
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
    assetPositions: z.array(z.looseObject({ type: openEnum('oneWay'), position: Position })),
    time: INT.optional(),
  })
  .meta({ id: 'PerpState' })

/** Leverage allowed by notional size, lowest tier first. */
export const MarginTable = z
  .looseObject({
    description: z.string(),
    marginTiers: z.array(z.looseObject({ lowerBound: Decimal, maxLeverage: INT })),
  })
  .meta({ id: 'MarginTable' })

/** Switches that are off are left out. Fees of a builder-deployed market are scaled by `deployerFeeScale`. */
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

/** Markets of one perp DEX; the order of `universe` is the asset index. */
export const PerpMeta = z
  .looseObject({
    universe: z.array(Asset),
    marginTables: z.array(z.tuple([INT, MarginTable])).optional(),
    collateralToken: INT.optional(),
  })
  .meta({ id: 'PerpMeta' })
