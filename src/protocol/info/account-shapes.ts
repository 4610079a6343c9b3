// Account data: positions, histories, vaults, loans.

import * as z from 'zod'
import { kindsBy, openEnum } from '../../core/open-kinds.ts'
import { Address } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { TIME, USER } from './examples.ts'

/** Value for buying, then for selling. */
const Pair = z.tuple([Decimal.describe('Buy'), Decimal.describe('Sell')])

export const ActiveAssetData = z.looseObject({
  user: Address,
  coin: z.string(),
  leverage: kindsBy('type', {
    cross: { value: z.int().describe('Leverage factor') },
    isolated: {
      value: z.int().describe('Leverage factor'),
      rawUsd: Decimal.describe('Collateral of an isolated position'),
    },
  }),
  maxTradeSzs: Pair,
  availableToTrade: Pair,
  markPx: Decimal,
})

export const EXAMPLE_ACTIVE_ASSET = {
  user: USER,
  coin: 'BTC',
  leverage: { type: 'isolated', value: 10, rawUsd: '-731.76' },
  maxTradeSzs: ['0.12', '0.14'],
  availableToTrade: ['1000.5', '1100.0'],
  markPx: '81307.0',
}

// Funding paid (negative) or received by a user. An old row covers `nSamples` hours and has the mean size in those
// hours.
export const FUNDING_AMOUNTS = {
  coin: z.string(),
  usdc: Decimal.describe('Amount in USDC'),
  szi: Decimal.describe('Size, negative for a short'),
  fundingRate: Decimal.describe('Hourly rate, as a fraction'),
  nSamples: z.int().nullable().describe('Hours covered by the row; null: one hour'),
}

export const EXAMPLE_FUNDING = { coin: 'BTC', usdc: '-0.25', szi: '0.01', fundingRate: '0.0000125', nSamples: 24 }

/** Lending state and rates of one token. */
export const LendingReserve = z
  .looseObject({
    borrowYearlyRate: Decimal.describe('Yearly borrow rate, as a fraction'),
    supplyYearlyRate: Decimal.describe('Yearly supply rate, as a fraction'),
    balance: Decimal,
    utilization: Decimal.describe('Borrowed fraction of the supply'),
    oraclePx: Decimal,
    ltv: Decimal,
    totalSupplied: Decimal,
    totalBorrowed: Decimal,
  })
  .meta({ id: 'LendingReserve' })

export const EXAMPLE_RESERVE = {
  borrowYearlyRate: '0.05',
  supplyYearlyRate: '0.0',
  balance: '1000000.5',
  utilization: '0.25',
  oraclePx: '1.0',
  ltv: '0.65',
  totalSupplied: '1250000.0',
  totalBorrowed: '312500.0',
}

// Equity and profit of an account over several periods.
const Curve = z.array(z.tuple([z.int().describe('Unix milliseconds'), Decimal.describe('Amount')]))
const Period = openEnum('day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime')

/** Periods of all markets come first, then periods of perps only. Points are `[time, USDC]`. */
export const Portfolio = z
  .array(
    z.tuple([
      Period.describe('Period. Names with `perp` cover perps only'),
      z
        .looseObject({ accountValueHistory: Curve, pnlHistory: Curve, vlm: Decimal })
        .describe('Equity and profit in the period'),
    ]),
  )
  .meta({ id: 'Portfolio' })

export const EXAMPLE_PORTFOLIO = [
  ['day', { accountValueHistory: [[TIME, '1000.0']], pnlHistory: [[TIME, '-0.5']], vlm: '813.07' }],
]

// Shared by the vault types. A parent vault lists the addresses of its children.
export const VaultRelationship = kindsBy('type', {
  normal: {},
  child: {},
  parent: { data: z.looseObject({ childAddresses: z.array(Address) }) },
}).meta({ id: 'VaultRelationship' })
