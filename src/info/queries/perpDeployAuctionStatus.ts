// perpDeployAuctionStatus: the gas auction for the next perp deployment. Wire-equal; its price decays by the second.

import * as z from 'zod'
import { GasAuction } from '../../protocol/info/auction-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const perpDeployAuctionStatus = passThroughQuery({
  type: 'perpDeployAuctionStatus',
  summary: 'The gas auction for perp deployments',
  example: { request: {}, response: GAS_AUCTION },
  request: z.object({ type: z.literal('perpDeployAuctionStatus') }),
  response: GasAuction,
  freshness: { class: 'tick' },
})
