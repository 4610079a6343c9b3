// Shapes that several responses share. Loose where the exchange may add fields: what we do not know passes through.

import * as z from 'zod'

const SIGNED = z.string().regex(/^-?\d+(\.\d+)?$/)
const INT = z.int()

/** Decimal string, signed. */
export const Decimal = SIGNED

const Level = z.object({ px: Decimal, sz: Decimal, n: INT }).meta({ id: 'Level' })

/** `[bids, asks]`, best first. */
export const BookLevels = z.tuple([z.array(Level), z.array(Level)])

const MarginSummary = z.looseObject({
  accountValue: Decimal,
  totalNtlPos: Decimal,
  totalRawUsd: Decimal,
  totalMarginUsed: Decimal,
})

const Leverage = z.union([
  z.looseObject({ type: z.literal('cross'), value: INT }),
  z.looseObject({ type: z.literal('isolated'), value: INT, rawUsd: Decimal }),
])

const Position = z.looseObject({
  coin: z.string(),
  szi: Decimal,
  leverage: Leverage,
  entryPx: Decimal.nullable(),
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
    assetPositions: z.array(z.looseObject({ type: z.string(), position: Position })),
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

const Asset = z.looseObject({
  name: z.string(),
  szDecimals: INT,
  maxLeverage: INT,
  marginTableId: INT.optional(),
  isDelisted: z.boolean().optional(),
})

/** Markets of one perp DEX; the order of `universe` is the asset index. */
export const PerpMeta = z
  .looseObject({
    universe: z.array(Asset),
    marginTables: z.array(z.tuple([INT, MarginTable])).optional(),
    collateralToken: INT.optional(),
  })
  .meta({ id: 'PerpMeta' })
