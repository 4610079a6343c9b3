// What a user paid (below zero) and got as funding. Old rows stand for `nSamples` hours each, with their mean size.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

export const FUNDING_AMOUNTS = {
  coin: z.string(),
  usdc: Decimal.describe('Amount in USDC'),
  szi: Decimal.describe('Size, negative for a short'),
  fundingRate: Decimal.describe('Hourly rate, as a fraction'),
  nSamples: z.int().nullable().describe('Hours covered by the row; null: one'),
}

export const EXAMPLE_FUNDING = { coin: 'BTC', usdc: '-0.25', szi: '0.01', fundingRate: '0.0000125', nSamples: 24 }
