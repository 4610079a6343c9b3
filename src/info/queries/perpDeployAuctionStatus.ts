// perpDeployAuctionStatus: the gas auction for the next perp deployment. Wire-equal; its price decays by the second.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { GasAuction } from '../shapes/auction-shapes.ts'
import { GAS_AUCTION } from '../shapes/examples.ts'
import { passThrough } from '../sources/pass-through.ts'

const PerpDeployAuctionStatusRequest = z.object({ type: z.literal('perpDeployAuctionStatus') })

export const perpDeployAuctionStatus = defineQuery({
  type: 'perpDeployAuctionStatus',
  summary: 'The gas auction for perp deployments',
  example: { request: {}, response: GAS_AUCTION },
  request: PerpDeployAuctionStatusRequest,
  response: GasAuction,
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
