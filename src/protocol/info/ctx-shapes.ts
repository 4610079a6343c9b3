// What markets trade at.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

/** Of a perp; the middle and what is derived from it are null without a book. */
export const PerpAssetCtx = z
  .looseObject({
    funding: Decimal.describe('Funding rate of the current hour'),
    openInterest: Decimal.describe('Open interest in the base coin'),
    prevDayPx: Decimal,
    dayNtlVlm: Decimal,
    premium: Decimal.nullable(),
    oraclePx: Decimal,
    markPx: Decimal,
    midPx: Decimal.nullable().describe('Mid price; null without a book'),
    impactPxs: z
      .tuple([Decimal.describe('Sell'), Decimal.describe('Buy')])
      .nullable()
      .describe('Impact prices of selling and buying a fixed notional'),
    dayBaseVlm: Decimal,
  })
  .meta({ id: 'PerpAssetCtx' })

export const SpotAssetCtx = z
  .looseObject({
    prevDayPx: Decimal,
    dayNtlVlm: Decimal,
    markPx: Decimal,
    midPx: Decimal.nullable().describe('Mid price; null without a book'),
    circulatingSupply: Decimal,
    coin: z.string(),
    totalSupply: Decimal,
    dayBaseVlm: Decimal,
  })
  .meta({ id: 'SpotAssetCtx' })

export const EXAMPLE_PERP_CTX = {
  funding: '0.0000125',
  openInterest: '1234.5',
  prevDayPx: '80000.0',
  dayNtlVlm: '1000000.0',
  premium: '0.0001',
  oraclePx: '81300.0',
  markPx: '81307.0',
  midPx: '81306.5',
  impactPxs: ['81306.0', '81307.0'],
  dayBaseVlm: '12.3',
}

export const EXAMPLE_SPOT_CTX = {
  prevDayPx: '0.2',
  dayNtlVlm: '1000.0',
  markPx: '0.21',
  midPx: '0.21',
  circulatingSupply: '500000000.0',
  coin: 'PURR/USDC',
  totalSupply: '600000000.0',
  dayBaseVlm: '4800.0',
}
