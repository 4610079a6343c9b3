// spotPairDeployAuctionStatus: the gas auction for the next pair of two tokens. Wire-equal; its price decays by the second.

import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const spotPairDeployAuctionStatus = bareQuery({
  type: 'spotPairDeployAuctionStatus',
  summary: 'The gas auction for spot pairs',
  example: GAS_AUCTION,
  response: GasAuction,
  freshness: { class: 'tick' },
})
