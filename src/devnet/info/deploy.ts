// Deployments in progress and the auctions for the right to them.

import { auctionAt } from '../exchange/auction.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { BUILDERS } from '../exchange/roles.ts'
import type { SomeAnswers } from './answer.ts'

const PERP_SLOT = 0
const SPOT_SLOT = 1
const PAIR_SLOT = 2

/** The first builder has a token half deployed, always the same; nobody else has. */
function states(x: Exchange, address: string) {
  if (x.byAddress.get(address) !== BUILDERS[0]) return []
  return [
    {
      token: x.scale.tokens.length,
      spec: { name: 'WEIR', szDecimals: 2, weiDecimals: 8 },
      fullName: 'Weir token',
      deployerTradingFeeShare: '0.0',
      spots: [],
      maxSupply: '1000000000.0',
      hyperliquidityGenesisBalance: '0.0',
      totalGenesisBalanceWei: '10000000000000000',
      userGenesisBalances: [[address, '100000000.0']],
      existingTokenGenesisBalances: [[1, '0.0']],
      blacklistUsers: [],
    },
  ]
}

/** Every auction has a timetable of its own. */
export const DEPLOY_ANSWERS = {
  perpDeployAuctionStatus: ({ exchange }) => auctionAt(exchange.seed, PERP_SLOT, exchange.block.timeMs),
  spotPairDeployAuctionStatus: ({ exchange }) => auctionAt(exchange.seed, PAIR_SLOT, exchange.block.timeMs),
  spotDeployState: ({ exchange }, { user }) => ({
    states: states(exchange, user),
    gasAuction: auctionAt(exchange.seed, SPOT_SLOT, exchange.block.timeMs),
  }),
} satisfies SomeAnswers
