// gossipPriorityAuctionStatus: auctions for gossip priority: the last winner of each slot, null if there was no bid,
// and the current auctions. Same response as the exchange's API.

import * as z from 'zod'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const gossipPriorityAuctionStatus = bareQuery({
  type: 'gossipPriorityAuctionStatus',
  summary: 'Auctions for gossip priority',
  example: [['192.0.2.1'], [{ ...GAS_AUCTION, durationSeconds: 180 }]],
  response: () =>
    z.tuple([
      z.array(z.string().nullable()).describe('Last auction winner by slot; null: no bid'),
      z.array(GasAuction).describe('Current auction by slot'),
    ]),
  freshness: { class: 'tick' },
})
