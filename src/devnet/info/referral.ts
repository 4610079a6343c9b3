// Referrals: every builder has referred the wallets that trade through it. This exchange gives no discount for it, so
// that it earns nothing; what builders earn by their own fees is told here too.

import type { Exchange } from '../exchange/exchange.ts'
import { amountOf, formatAmount, units } from '../exchange/fixed-point.ts'
import { USDC } from '../exchange/market.ts'
import { BUILDERS } from '../exchange/roles.ts'
import type { Scene, SomeAnswers } from './answer.ts'
import { approvedBuilder } from './user.ts'

/** USDC that a wallet has to trade before it may refer others. */
const REQUIRED = units(10_000)

const codeOf = (builder: number) => `BUILDER${BUILDERS.indexOf(builder) + 1}`

function referredBy(x: Exchange, user: string) {
  const builder = approvedBuilder(x, user)
  return builder === null ? null : { referrer: x.accounts[builder.account]!.address, code: codeOf(builder.account) }
}

function referred({ exchange: x, past }: Scene, builder: number) {
  return x.accounts
    .filter(({ address }) => approvedBuilder(x, address)?.account === builder)
    .map(({ address }) => {
      const cumVlm = formatAmount(past.volumes.total(address))
      const earned = { cumVlm, cumRewardedFeesSinceReferred: '0.0', cumFeesRewardedToReferrer: '0.0' }
      // The first vault is as old as the exchange and its first wallets.
      return { ...earned, timeJoined: x.vaults[0]!.createdMs, user: address, tokenToState: [[USDC, earned]] }
    })
}

function stage(scene: Scene, user: string) {
  const { exchange: x, past } = scene
  const builder = x.byAddress.get(user) ?? -1
  if (BUILDERS.includes(builder)) {
    const referralStates = referred(scene, builder)
    return { stage: 'ready', data: { code: codeOf(builder), nReferrals: referralStates.length, referralStates } }
  }
  const missing = REQUIRED - past.volumes.total(user)
  if (missing > 0n) return { stage: 'needToTrade', data: { required: formatAmount(missing) } }
  return { stage: 'needToCreateCode' }
}

function claimed({ past }: Scene, user: string): bigint {
  const rows = past.wallet(user)?.ledger.toArray() ?? []
  return rows
    .filter(({ delta }) => delta.type === 'rewardsClaim')
    .reduce((sum, { delta }) => sum + amountOf(String(delta.amount)), 0n)
}

function referral(scene: Scene, user: string) {
  const { exchange: x, past } = scene
  const rewards = {
    cumVlm: formatAmount(past.volumes.total(user)),
    unclaimedRewards: '0.0',
    claimedRewards: formatAmount(claimed(scene, user)),
    builderRewards: formatAmount(x.pools.builderFees.get(x.byAddress.get(user) ?? -1) ?? 0n),
  }
  return {
    referredBy: referredBy(x, user),
    ...rewards,
    referrerState: stage(scene, user),
    rewardHistory: [],
    tokenToState: [[USDC, rewards]],
  }
}

export const REFERRAL_ANSWERS = {
  referral: (scene, { user }) => referral(scene, user),
} satisfies SomeAnswers
