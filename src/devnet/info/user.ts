// What a wallet is and may do: role, sub-accounts, agents, signers, fees, limits, ledger.

import type { Exchange } from '../exchange/exchange.ts'
import { FEE_RATES } from '../exchange/fees.ts'
import { formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { agentsOf, MULTI_SIG, ownerOfAgent, SUB_ACCOUNTS } from '../exchange/identities.ts'
import type { Builder } from '../exchange/order.ts'
import { abstractionOf, builderOf, DEX_TAKERS, isMaker, TAKERS } from '../exchange/roles.ts'
import type { Scene, SomeAnswers } from './answer.ts'
import { perpState, spotState, walletOf } from './wallet.ts'

/** Rows of one answer. */
const MAX_LEDGER = 500
/** Requests that every wallet has to begin with. */
const FREE_REQUESTS = 10_000
const rate = (tenMillionths: bigint) => formatAmount(tenMillionths * 10n)

const indexOf = (x: Exchange, address: string) => x.byAddress.get(address) ?? -1
const addressOf = (x: Exchange, account: number) => x.accounts[account]!.address

function role(x: Exchange, address: string) {
  const index = indexOf(x, address)
  const owner = index < 0 ? ownerOfAgent(x, address) : -1
  if (owner >= 0) return { role: 'agent', data: { user: addressOf(x, owner) } }
  if (index < 0) return { role: 'missing' }
  if (x.vaults.some(({ account }) => account === index)) return { role: 'vault' }
  const sub = SUB_ACCOUNTS.find(({ account }) => account === index)
  return sub === undefined ? { role: 'user' } : { role: 'subAccount', data: { master: addressOf(x, sub.master) } }
}

/** Null for a wallet that is nobody's master. */
function subAccounts(x: Exchange, address: string) {
  const index = indexOf(x, address)
  const subs = SUB_ACCOUNTS.filter(({ master }) => master === index)
  if (subs.length === 0) return null
  return subs.map(({ account, name }) => ({
    name,
    subAccountUser: addressOf(x, account),
    master: address,
    clearinghouseState: perpState(x, x.accounts[account]!, 0),
    spotState: spotState(x, x.accounts[account]!),
  }))
}

function signers(x: Exchange, address: string) {
  if (indexOf(x, address) !== MULTI_SIG.account) return null
  return { authorizedUsers: MULTI_SIG.signers.map((i) => addressOf(x, i)), threshold: MULTI_SIG.threshold }
}

function fees({ exchange, past }: Scene, address: string) {
  const maker = isMaker(indexOf(exchange, address)) && indexOf(exchange, address) >= 0
  const { perpTaker, perpMaker, perpRebate, spotTaker, spotMaker } = FEE_RATES
  return {
    dailyUserVlm: past.volumes.days(address).map(({ date, user, exchange: all }) => ({
      date,
      userCross: formatAmount(user.cross),
      userAdd: formatAmount(user.add),
      exchange: formatAmount(all),
    })),
    feeSchedule: {
      cross: rate(perpTaker),
      add: rate(perpMaker),
      spotCross: rate(spotTaker),
      spotAdd: rate(spotMaker),
      tiers: { vip: [], mm: [{ makerFractionCutoff: '0.005', add: rate(perpRebate) }] },
      referralDiscount: '0.0',
      stakingDiscountTiers: [{ bpsOfMaxSupply: '0.0', discount: '0.0' }],
    },
    userCrossRate: rate(perpTaker),
    userAddRate: rate(maker ? perpRebate : perpMaker),
    userSpotCrossRate: rate(spotTaker),
    userSpotAddRate: rate(spotMaker),
    activeReferralDiscount: '0.0',
    trial: null,
    feeTrialEscrow: '0.0',
    nextTrialAvailableTimestamp: null,
    stakingLink: null,
    activeStakingDiscount: { bpsOfMaxSupply: '0.0', discount: '0.0' },
  }
}

function rateLimit({ past }: Scene, address: string) {
  const volume = past.volumes.total(address)
  return {
    cumVlm: formatAmount(volume),
    nRequestsUsed: past.wallet(address)?.requests ?? 0,
    nRequestsCap: FREE_REQUESTS + Number(volume / UNIT),
    nRequestsSurplus: 0,
  }
}

/** The one that a wallet trades through, at most; it has approved no other. */
export function approvedBuilder(x: Exchange, address: string): Builder | null {
  const index = indexOf(x, address)
  const trades =
    TAKERS.includes(index) || DEX_TAKERS.includes(index) || x.vaults.slice(1).some((v) => v.account === index)
  return trades ? builderOf(index) : null
}

/** Tenths of a basis point that a wallet has approved for a builder: what it trades at. */
function builderFee(x: Exchange, address: string, builder: string): number {
  const approved = approvedBuilder(x, address)
  return approved !== null && addressOf(x, approved.account) === builder ? approved.f : 0
}

/** A wallet that nobody has seen is answered like one without anything. */
export const USER_ANSWERS = {
  userRole: ({ exchange }, { user }) => role(exchange, user),
  subAccounts: ({ exchange }, { user }) => subAccounts(exchange, user),
  userToMultiSigSigners: ({ exchange }, { user }) => signers(exchange, user),
  extraAgents: ({ exchange }, { user }) => agentsOf(exchange, indexOf(exchange, user)),
  userFees: (scene, { user }) => fees(scene, user),
  userRateLimit: (scene, { user }) => rateLimit(scene, user),
  userAbstraction: ({ exchange }, { user }) => abstractionOf(indexOf(exchange, user)),
  maxBuilderFee: ({ exchange }, { user, builder }) => builderFee(exchange, user, builder),
  userNonFundingLedgerUpdates: ({ past }, { user, startTime, endTime }) => {
    const from = startTime ?? 0
    const to = endTime ?? Number.POSITIVE_INFINITY
    const updates = past.wallet(user)?.ledger.toArray() ?? []
    return updates.filter(({ time }) => time >= from && time <= to).slice(0, MAX_LEDGER)
  },
  spotClearinghouseState: ({ exchange }, { user }) => spotState(exchange, walletOf(exchange, user)),
} satisfies SomeAnswers
