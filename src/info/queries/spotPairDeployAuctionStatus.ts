// spotPairDeployAuctionStatus: the gas auction for the next pair of two tokens. Wire-equal; its price decays by the second.

import * as z from 'zod'
import { GasAuction } from '../../protocol/info/auction-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const spotPairDeployAuctionStatus = passThroughQuery({
  type: 'spotPairDeployAuctionStatus',
  summary: 'The gas auction for spot pairs',
  example: { request: {}, response: GAS_AUCTION },
  request: z.object({ type: z.literal('spotPairDeployAuctionStatus') }),
  response: GasAuction,
  freshness: { class: 'tick' },
})
