// The bundle that the exchange's own pages once asked for: other answers, put together.

import { amountOf, formatAmount } from '../exchange/fixed-point.ts'
import { twapState } from '../exchange/twap.ts'
import type { Scene, SomeAnswers } from './answer.ts'
import { CONTEXT_ANSWERS } from './context.ts'
import { META_ANSWERS } from './meta.ts'
import { ORDER_ANSWERS } from './orders.ts'
import { firstAgent } from './standing.ts'
import { USER_ANSWERS } from './user.ts'
import { VAULT_ANSWERS } from './vaults.ts'

const DEX = ''

/** Deposits less withdrawals with their fees, as far as they are remembered. */
function cumLedger({ past }: Scene, user: string): string {
  let sum = 0n
  for (const { delta } of past.wallet(user)?.ledger.toArray() ?? [])
    if (delta.type === 'deposit') sum += amountOf(String(delta.usdc))
    else if (delta.type === 'withdraw') sum -= amountOf(String(delta.usdc)) + amountOf(String(delta.fee))
  return formatAmount(sum)
}

function webData(scene: Scene, user: string) {
  const { exchange: x } = scene
  const account = { type: 'clearinghouseState', user, dex: DEX } as const
  const [meta, assetCtxs] = CONTEXT_ANSWERS.metaAndAssetCtxs(scene, { type: 'metaAndAssetCtxs', dex: DEX }) as unknown[]
  const [, spotAssetCtxs] = CONTEXT_ANSWERS.spotMetaAndAssetCtxs(scene)
  const equities = VAULT_ANSWERS.userVaultEquities(scene, { type: 'userVaultEquities', user })
  return {
    clearinghouseState: META_ANSWERS.clearinghouseState(scene, account),
    leadingVaults: VAULT_ANSWERS.leadingVaults(scene, { type: 'leadingVaults', user }),
    totalVaultEquity: formatAmount(equities.reduce((sum, { equity }) => sum + amountOf(equity), 0n)),
    openOrders: ORDER_ANSWERS.frontendOpenOrders(scene, { type: 'frontendOpenOrders', user, dex: DEX }),
    ...firstAgent(x, user),
    cumLedger: cumLedger(scene, user),
    meta,
    assetCtxs,
    serverTime: x.block.timeMs,
    isVault: USER_ANSWERS.userRole(scene, { type: 'userRole', user }).role === 'vault',
    user,
    twapStates: x.twaps
      .filter(({ owner }) => x.accounts[owner]!.address === user)
      .map((twap) => [twap.id, twapState(x, twap)]),
    spotState: USER_ANSWERS.spotClearinghouseState(scene, { type: 'spotClearinghouseState', user }),
    spotAssetCtxs,
    perpsAtOpenInterestCap: CONTEXT_ANSWERS.perpsAtOpenInterestCap(scene, { type: 'perpsAtOpenInterestCap', dex: DEX }),
  }
}

export const WEB_DATA_ANSWERS = {
  webData2: (scene, { user }) => webData(scene, user),
} satisfies SomeAnswers
