// perpDeployAuctionStatus: the gas auction for the next perp deployment. Wire-equal; its price decays by the second.

import * as z from 'zod'
import { GasAuction } from '../../protocol/info/auction-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
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
