// spotDeployState: spot deployments started by a user, and the gas auction for the next deployment. Same response as the
// exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { AmountByToken, Decimal } from '../../protocol/info/common-shapes.ts'
import { GAS_AUCTION } from '../../protocol/info/examples.ts'
import { GasAuction } from '../../protocol/info/market-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

const Deployment = () =>
  z.looseObject({
    token: z.int().describe('Index of the spot token'),
    spec: z.looseObject({ name: z.string(), szDecimals: z.int(), weiDecimals: z.int() }).describe('Specification'),
    fullName: z.string().nullable(),
    deployerTradingFeeShare: Decimal,
    spots: z.array(z.int()),
    /** A decimal string or null on the public API; an integer in older responses. */
    maxSupply: z.union([Decimal, z.int()]).nullable(),
    hyperliquidityGenesisBalance: Decimal,
    totalGenesisBalanceWei: Decimal,
    userGenesisBalances: z.array(z.tuple([Address.describe('Wallet'), Decimal.describe('Amount')])),
    existingTokenGenesisBalances: AmountByToken,
    blacklistUsers: z.array(Address),
  })

export const spotDeployState = ofUserQuery({
  type: 'spotDeployState',
  summary: "A user's spot deployments, and the gas auction",
  example: { states: [], gasAuction: GAS_AUCTION },
  response: () =>
    z.looseObject({ states: z.array(Deployment()).describe('Started deployments'), gasAuction: GasAuction }),
})
