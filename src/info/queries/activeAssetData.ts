// activeAssetData: what a user can trade of one coin now: leverage, and how much to buy and to sell. Wire-equal.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address, CoinName } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { USER } from '../shapes/examples.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { passThrough } from '../sources/pass-through.ts'

const ActiveAssetDataRequest = z.object({ type: z.literal('activeAssetData'), user: UserAddress, coin: CoinName })

/** Buying, then selling. */
const Pair = z.tuple([Decimal, Decimal])

const ActiveAssetData = z.looseObject({
  user: Address,
  coin: z.string(),
  leverage: kindsBy('type', { cross: { value: z.int() }, isolated: { value: z.int(), rawUsd: Decimal } }),
  maxTradeSzs: Pair,
  availableToTrade: Pair,
  markPx: Decimal,
})

export const activeAssetData = defineQuery({
  type: 'activeAssetData',
  summary: 'What a user can buy and sell of a coin now',
  example: {
    request: { user: USER, coin: 'BTC' },
    response: {
      user: USER,
      coin: 'BTC',
      leverage: { type: 'isolated', value: 10, rawUsd: '-731.76' },
      maxTradeSzs: ['0.12', '0.14'],
      availableToTrade: ['1000.5', '1100.0'],
      markPx: '81307.0',
    },
  },
  request: ActiveAssetDataRequest,
  response: ActiveAssetData,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
