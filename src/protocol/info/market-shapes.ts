// Markets and their prices.

import * as z from 'zod'
import { INTERVALS } from '../../core/candle-interval.ts'
import { openEnum } from '../../core/open-kinds.ts'
import { Address } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { TIME, USER } from './examples.ts'

/** Annotation without its description. `displayName` replaces the coin name if present. */
export const ConciseAnnotation = z.looseObject({
  category: z.string(),
  displayName: z.string().optional(),
  keywords: z.array(z.string()).optional(),
})

export const EXAMPLE_ANNOTATION = { category: 'commodities', displayName: 'Gold', keywords: ['metal', 'xau'] }
export const EXAMPLE_TOKEN_ANNOTATION = { category: 'layer 1', displayName: 'Hyperliquid', keywords: ['chain'] }

/** Dutch auction of a deployment right. `currentGas` is null after the auction has ended, `endGas` until then. */
export const GasAuction = z
  .looseObject({
    startTimeSeconds: z.int(),
    durationSeconds: z.int(),
    startGas: Decimal,
    currentGas: Decimal.nullable().describe('Current price; null after the end'),
    endGas: Decimal.nullable().describe('Final price; null before the end'),
  })
  .meta({ id: 'GasAuction' })

export const CandleInterval = z.enum(INTERVALS, `must be one of ${INTERVALS.join(', ')}`)

export const Candle = z
  .looseObject({
    t: z.int().describe('Open time, Unix milliseconds'),
    T: z.int().describe('Close time, Unix milliseconds'),
    s: z.string().describe('Market'),
    i: openEnum(...INTERVALS).describe('Interval'),
    o: Decimal.describe('Open price'),
    c: Decimal.describe('Close price'),
    h: Decimal.describe('High price'),
    l: Decimal.describe('Low price'),
    v: Decimal.describe('Volume in the base coin'),
    n: z.int().describe('Number of trades'),
  })
  .meta({ id: 'Candle' })

export const EXAMPLE_CANDLE = {
  t: TIME,
  T: TIME + 59_999,
  s: 'BTC',
  i: '1m',
  o: '81300.0',
  c: '81307.0',
  h: '81310.0',
  l: '81299.0',
  v: '12.5',
  n: 84,
}

/** Perp market data. Mid price and derived values are null if there is no book. */
export const PerpAssetCtx = z
  .looseObject({
    funding: Decimal.describe('Funding rate of the current hour'),
    openInterest: Decimal.describe('Open interest in the base coin'),
    prevDayPx: Decimal,
    dayNtlVlm: Decimal,
    premium: Decimal.nullable(),
    oraclePx: Decimal,
    markPx: Decimal,
    midPx: Decimal.nullable().describe('Mid price; null if there is no book'),
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
    midPx: Decimal.nullable().describe('Mid price; null if there is no book'),
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

// Outcome markets: possible events, traded as shares of two sides.
/**
 * `token` is a side's spot token, if the side has one. Only markets of a venue have `deployer` and the fields after it.
 */
export const Outcome = z
  .looseObject({
    outcome: z.int().describe('Outcome market id'),
    name: z.string(),
    description: z.string(),
    sideSpecs: z.array(
      z.looseObject({ name: z.string(), token: z.int().optional().describe('Index of the spot token') }),
    ),
    quoteToken: z.string(),
    deployer: Address.optional(),
    venue: z.string().optional(),
    deployerFeeScale: Decimal.optional(),
  })
  .meta({ id: 'Outcome' })

export const EXAMPLE_OUTCOME = {
  outcome: 4,
  name: 'BTC above 90000',
  description: '',
  sideSpecs: [
    { name: 'Yes', token: 40 },
    { name: 'No', token: 41 },
  ],
  quoteToken: 'USDC',
  deployer: USER,
  venue: 'out',
  deployerFeeScale: '1.0',
}

/** Mutually exclusive outcomes. */
export const Question = z.looseObject({
  question: z.int().describe('Question id'),
  name: z.string(),
  description: z.string(),
  fallbackOutcome: z.int().describe('Outcome that wins if no named outcome wins'),
  namedOutcomes: z.array(z.int()),
  settledNamedOutcomes: z.array(z.int()),
})

export const EXAMPLE_QUESTION = {
  question: 2,
  name: 'Who wins',
  description: '',
  fallbackOutcome: 5,
  namedOutcomes: [6, 7],
  settledNamedOutcomes: [7],
}
