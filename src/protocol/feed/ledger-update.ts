// Balance movements as the public API and the node tell them: what is published of them. The feed itself takes whatever
// a node writes (`LedgerEvent`), so that a kind that changes stops nothing.

import * as z from 'zod'
import { kindsBy, openEnum } from '../../core/open-kinds.ts'
import { Address, CoinName, Decimal, Millis, TxHash } from './block.ts'

const token = z.string()
const usdc = Decimal
const amount = Decimal
const fee = Decimal
const user = Address
const destination = Address
const vault = Address
/** `feeToken` may be empty; a DEX is `""` for the main one, `spot`, or a name. */
const transferFields = {
  token,
  amount,
  usdcValue: Decimal,
  user,
  destination,
  fee,
  nativeTokenFee: Decimal,
  feeToken: token,
}

/** By its `type`, an open set. Amounts are in units of the token, those without one in USDC. */
const LedgerDelta = kindsBy('type', {
  deposit: { usdc },
  withdraw: { usdc, nonce: z.int(), fee },
  internalTransfer: { usdc, user, destination, fee },
  subAccountTransfer: { usdc, user, destination },
  accountClassTransfer: { usdc, toPerp: z.boolean().describe('Whether the transfer went to the perp account') },
  spotTransfer: { ...transferFields, nonce: z.int().nullable() },
  send: { ...transferFields, sourceDex: z.string(), destinationDex: z.string(), nonce: z.int() },
  liquidation: {
    liquidatedNtlPos: Decimal,
    accountValue: Decimal.describe('Equity in the collateral token'),
    leverageType: openEnum('Cross', 'Isolated'),
    liquidatedPositions: z.array(
      z.looseObject({ coin: CoinName, szi: Decimal.describe('Size, negative for a short') }),
    ),
  },
  vaultCreate: { vault, usdc, fee },
  vaultDeposit: { vault, usdc },
  vaultWithdraw: {
    vault,
    user,
    requestedUsd: Decimal,
    commission: Decimal,
    closingCost: Decimal,
    basis: Decimal,
    netWithdrawnUsd: Decimal,
  },
  vaultDistribution: { vault, usdc },
  vaultLeaderCommission: { user, usdc },
  spotGenesis: { token, amount },
  /** Rows of early days have no `token`. */
  rewardsClaim: { amount, token: token.optional() },
  accountActivationGas: { amount, token },
  perpDexClassTransfer: {
    amount,
    token,
    dex: z.string(),
    toPerp: z.boolean().describe('Whether the transfer went to the perp account'),
  },
  deployGasAuction: { token, amount },
  cStakingTransfer: { token, amount, isDeposit: z.boolean() },
  borrowLend: {
    token,
    operation: openEnum('supply', 'withdraw', 'repay', 'borrow'),
    amount,
    interestAmount: Decimal,
  },
  activateDexAbstraction: { dex: z.string(), token, amount },
  gossipPriorityGasAuction: { token, amount },
}).meta({ id: 'LedgerDelta' })

/** A balance movement as it is told to one of the wallets that it concerns. */
export const LedgerUpdate = z
  .looseObject({ time: Millis, hash: TxHash, delta: LedgerDelta })
  .meta({ id: 'LedgerUpdate' })
