// Published shape of balance movements, as the public API and the node write them. The feed itself accepts any event
// that a node writes (`LedgerEvent`), so it does not stop if a kind of event changes.

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
/** `feeToken` may be empty. A DEX is `""` (main), `spot`, or a name. */
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

/**
 * The balance movement by `type`; new types may appear. Amounts are in units of the token, or in USDC if there is no
 * token.
 */
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
  /** Old rows have no `token`. */
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

/** A balance movement as sent to one of its wallets. */
export const LedgerUpdate = z
  .looseObject({ time: Millis, hash: TxHash, delta: LedgerDelta })
  .meta({ id: 'LedgerUpdate' })
