// gossipPriorityAuctionStatus: who reads the exchange's gossip first: the winner of each slot's last auction, null where
// nobody bid, and its present auction. Wire-equal.

import * as z from 'zod'
import { GasAuction } from '../../protocol/info/auction-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const gossipPriorityAuctionStatus = passThroughQuery({
  type: 'gossipPriorityAuctionStatus',
  summary: 'The auctions for places in the gossip',
  example: { request: {}, response: [['192.0.2.1'], [{ ...GAS_AUCTION, durationSeconds: 180 }]] },
  request: z.object({ type: z.literal('gossipPriorityAuctionStatus') }),
  response: z.tuple([
    z.array(z.string().nullable()).describe('Last auction winner by slot; null: no bid'),
    z.array(GasAuction).describe('Current auction by slot'),
  ]),
  freshness: { class: 'tick' },
})
