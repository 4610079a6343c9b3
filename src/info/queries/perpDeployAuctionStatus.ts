// perpDeployAuctionStatus: gas auction for the next perp deployment; its price decays every second. Same response as
// the exchange's API.

import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const perpDeployAuctionStatus = bareQuery({
  type: 'perpDeployAuctionStatus',
  summary: 'Gas auction for perp deployments',
  example: GAS_AUCTION,
  response: () => GasAuction,
  freshness: { class: 'tick' },
})
