// gossipPriorityAuctionStatus: who reads the exchange's gossip first: the winner of each slot's last auction, null where
// nobody bid, and its present auction. Wire-equal.

import * as z from 'zod'
import { GasAuction } from '../../protocol/info/auction-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const GossipPriorityAuctionStatusRequest = z.object({ type: z.literal('gossipPriorityAuctionStatus') })

export const gossipPriorityAuctionStatus = defineQuery({
  type: 'gossipPriorityAuctionStatus',
  summary: 'The auctions for places in the gossip',
  example: { request: {}, response: [['192.0.2.1'], [{ ...GAS_AUCTION, durationSeconds: 180 }]] },
  request: GossipPriorityAuctionStatusRequest,
  response: z.tuple([
    z.array(z.string().nullable()).describe('Last auction winner by slot; null: no bid'),
    z.array(GasAuction).describe('Current auction by slot'),
  ]),
  price: ONE_CREDIT,
  freshness: { class: 'tick' },
  needs: ['upstream'],
  resolve: passThrough,
})
