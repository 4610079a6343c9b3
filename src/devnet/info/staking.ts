// Staking as the public info queries show it, and the votes of the validators.

import type { Exchange } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { delegated, emptyStaker, type Staker } from '../exchange/staker.ts'
import { VALIDATORS } from '../exchange/staking.ts'
import type { Scene, SomeAnswers } from './answer.ts'

/** A vote is open this long, and a new one begins when it ends. */
const VOTE_MS = 600_000

function stakerAt(x: Exchange, address: string): Staker {
  return x.staking.stakers.get(x.byAddress.get(address) ?? -1) ?? emptyStaker()
}

function summary(staker: Staker) {
  return {
    delegated: formatAmount(delegated(staker)),
    undelegated: formatAmount(staker.undelegated),
    totalPendingWithdrawal: formatAmount(staker.pending.reduce((sum, { amount }) => sum + amount, 0n)),
    nPendingWithdrawals: staker.pending.length,
  }
}

/** One vote at a time: validators join it one after the other. A function of seed and time alone. */
function votes({ exchange: x }: Scene) {
  const { timeMs } = x.block
  const round = Math.floor(timeMs / VOTE_MS)
  const passed = timeMs / VOTE_MS - round
  const first = new Prng(seedState(x.seed + round)).below(VALIDATORS.length)
  const turn = VALIDATORS.map((_, i) => VALIDATORS[(first + i) % VALIDATORS.length]!)
  const voted = turn.slice(0, 1 + Math.floor(passed * turn.length))
  return [
    {
      expireTime: (round + 1) * VOTE_MS,
      action: { D: `devnet proposal ${round}` },
      votes: voted.map((account) => x.accounts[account]!.address),
      quorumReached: voted.length * 3 >= turn.length * 2,
    },
  ]
}

/** Histories newest first, as the public API has them. */
export const STAKING_ANSWERS = {
  delegatorSummary: ({ exchange }, { user }) => summary(stakerAt(exchange, user)),
  delegations: ({ exchange: x }, { user }) =>
    [...stakerAt(x, user).delegations].map(([validator, { amount, lockedUntilMs }]) => ({
      validator: x.accounts[validator]!.address,
      amount: formatAmount(amount),
      lockedUntilTimestamp: lockedUntilMs,
    })),
  delegatorHistory: ({ past }, { user }) => past.wallet(user)?.staking.toArray().toReversed() ?? [],
  delegatorRewards: ({ past }, { user }) => past.wallet(user)?.rewards.toArray().toReversed() ?? [],
  validatorL1Votes: votes,
} satisfies SomeAnswers
