// spotPairDeployAuctionStatus: the gas auction for the next pair of two tokens. Wire-equal; its price decays by the second.

import * as z from 'zod'
import { GasAuction } from '../../protocol/info/auction-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const SpotPairDeployAuctionStatusRequest = z.object({ type: z.literal('spotPairDeployAuctionStatus') })

export const spotPairDeployAuctionStatus = defineQuery({
  type: 'spotPairDeployAuctionStatus',
  summary: 'The gas auction for spot pairs',
  example: { request: {}, response: GAS_AUCTION },
  request: SpotPairDeployAuctionStatusRequest,
  response: GasAuction,
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
