// What a user can trade of one coin.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { USER } from './examples.ts'

/** Buying, then selling. */
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
