// gossipPriorityAuctionStatus: who reads the exchange's gossip first: the winner of each slot's last auction, null where
// nobody bid, and its present auction. Wire-equal.

import * as z from 'zod'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

export const gossipPriorityAuctionStatus = bareQuery({
  type: 'gossipPriorityAuctionStatus',
  summary: 'The auctions for places in the gossip',
  example: [['192.0.2.1'], [{ ...GAS_AUCTION, durationSeconds: 180 }]],
  response: z.tuple([
    z.array(z.string().nullable()).describe('Last auction winner by slot; null: no bid'),
    z.array(GasAuction).describe('Current auction by slot'),
  ]),
  freshness: { class: 'tick' },
})
