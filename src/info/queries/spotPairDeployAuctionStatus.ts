// spotPairDeployAuctionStatus: gas auction for the next spot pair; its price decays every second. Same response as the
// exchange's API.

import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const spotPairDeployAuctionStatus = bareQuery({
  type: 'spotPairDeployAuctionStatus',
  summary: 'Gas auction for spot pairs',
  example: GAS_AUCTION,
  response: () => GasAuction,
  freshness: { class: 'tick' },
})
