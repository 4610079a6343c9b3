// Gossip among nodes: where to begin, and the auctions for who is told first.

import { auctionAt } from '../exchange/auction.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { SomeAnswers } from './answer.ts'

/** Timetables of the auctions, after those of deployments. */
const FIRST_SLOT = 3
const SLOTS = [0, 1, 2, 3, 4]
/** What a slot costs that nobody bids for, as auctionAt has it. */
const UNSOLD = '10.0'

/** The address that won a slot's last auction (one of those for documentation), null where nobody bid. */
function winner({ seed }: Exchange, slot: number, startSeconds: number): string | null {
  const { startTimeSeconds, endGas } = auctionAt(seed, FIRST_SLOT + slot, startSeconds * 1_000 - 1)
  return endGas === UNSOLD ? null : `192.0.2.${1 + (startTimeSeconds % 254)}`
}

function auctions(x: Exchange) {
  const now = SLOTS.map((slot) => auctionAt(x.seed, FIRST_SLOT + slot, x.block.timeMs))
  return [now.map(({ startTimeSeconds }, slot) => winner(x, slot, startTimeSeconds)), now]
}

/** This node alone. */
export const GOSSIP_ANSWERS = {
  gossipRootIps: () => ['127.0.0.1'],
  gossipPriorityAuctionStatus: ({ exchange }) => auctions(exchange),
} satisfies SomeAnswers
