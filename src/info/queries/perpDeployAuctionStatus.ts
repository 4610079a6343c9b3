// perpDeployAuctionStatus: the gas auction for the next perp deployment. Wire-equal; its price decays by the second.

import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const perpDeployAuctionStatus = bareQuery({
  type: 'perpDeployAuctionStatus',
  summary: 'The gas auction for perp deployments',
  example: GAS_AUCTION,
  response: GasAuction,
  freshness: { class: 'tick' },
})
