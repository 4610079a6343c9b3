// The validators: builders run them, they take turns, and none ever fails.

import type { Exchange } from '../exchange/exchange.ts'
import { formatAmount, UNIT } from '../exchange/fixed-point.ts'
import { BLOCK_MS, COMMISSION_PARTS, REWARD_PARTS, VALIDATORS } from '../exchange/staking.ts'
import type { SomeAnswers } from './answer.ts'

/** Blocks that count as recent. */
const RECENT = 1_000
const YEAR_MS = 365 * 86_400_000
/** Minutes of each period. */
const PERIODS = [
  ['day', 1_440],
  ['week', 10_080],
  ['month', 43_200],
] as const

function stakeOf(x: Exchange, validator: number): bigint {
  return [...x.staking.stakers.values()].reduce(
    (sum, { delegations }) => sum + (delegations.get(validator)?.amount ?? 0n),
    0n,
  )
}

/** Of a year, without the validator's part: a reward with every funding. */
function predictedApr({ fundingBlocks }: Exchange): string {
  const rewards = BigInt(Math.floor(YEAR_MS / (fundingBlocks * BLOCK_MS)))
  const whole = (rewards * UNIT) / REWARD_PARTS
  return formatAmount(whole - whole / COMMISSION_PARTS)
}

function summary(x: Exchange, validator: number, number: number) {
  const { address } = x.accounts[validator]!
  const stats = { uptimeFraction: '1.0', predictedApr: predictedApr(x) }
  return {
    validator: address,
    signer: address,
    name: `Validator ${number + 1}`,
    description: 'Runs on the devnet',
    nRecentBlocks: Math.floor(Math.min(x.height, RECENT) / VALIDATORS.length),
    // A JSON number on the wire, whatever its size.
    stake: Number(stakeOf(x, validator)),
    isJailed: false,
    unjailableAfter: null,
    isActive: true,
    commission: formatAmount(UNIT / COMMISSION_PARTS),
    stats: PERIODS.map(([name, nSamples]) => [name, { ...stats, nSamples }]),
  }
}

export const VALIDATOR_ANSWERS = {
  validatorSummaries: ({ exchange: x }) => VALIDATORS.map((validator, number) => summary(x, validator, number)),
} satisfies SomeAnswers
