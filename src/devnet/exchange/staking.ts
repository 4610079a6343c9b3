// Staking of the native token: deposits, delegations, withdrawals that wait, rewards that are delegated again.
// Law: deposits and rewards less withdrawals are what stakers have. The tokens come from outside the spot balances.
// Chance comes from seed and height alone, apart from the exchange's own, so that trading never depends on staking.

import type { Exchange } from './exchange.ts'
import { abs, formatAmount, min, units } from './fixed-point.ts'
import { eventHash, type NodeMiscEvent, recordLedger, ZERO_HASH } from './node-block.ts'
import { Prng, seedState } from './prng.ts'
import { BUILDERS, STAKERS } from './roles.ts'
import { delegated, emptyStaker, type Staker } from './staker.ts'

/** Builders run the validators. */
export const VALIDATORS = BUILDERS
/** Blocks between two moves of somebody. */
const MOVE_BLOCKS = 20
/** A delegation is locked and a withdrawal waits this long: a day and a week there, a minute or so here. */
const LOCK_BLOCKS = 800
export const BLOCK_MS = 70
const WITHDRAWAL_BLOCKS = 1_000
const MOST_STAKED = units(20_000)
/** Of what is delegated, per funding; a twentieth of it is the validator's. */
export const REWARD_PARTS = 100_000n
export const COMMISSION_PARTS = 20n

/** Moves, withdrawals that are due, and rewards of the present block. */
export function stakingActs(x: Exchange): void {
  if (x.height % MOVE_BLOCKS === 1) move(x, new Prng(seedState(x.seed + 2 ** 50 + x.height)))
  for (const [account, staker] of x.staking.stakers) finalize(x, account, staker)
  if (x.height % x.fundingBlocks === 0) reward(x)
}

function record(x: Exchange, hash: string, inner: NodeMiscEvent['inner']): void {
  x.block.miscEvents.push({ time: x.block.time, hash, inner })
}

/** The same for the wallet's ledger. */
function recordTransfer(x: Exchange, hash: string, account: number, amount: bigint, isDeposit: boolean): void {
  const delta = { type: 'cStakingTransfer', token: 'HYPE', amount: formatAmount(amount), isDeposit }
  recordLedger(x.block, hash, [addressOf(x, account)], delta)
}

const addressOf = (x: Exchange, account: number) => x.accounts[account]!.address

function stakerOf(x: Exchange, account: number): Staker {
  const staker = x.staking.stakers.get(account) ?? emptyStaker()
  x.staking.stakers.set(account, staker)
  return staker
}

function move(x: Exchange, rng: Prng): void {
  const account = rng.pick(STAKERS)
  const staker = stakerOf(x, account)
  const hash = eventHash(x.height, rng.hex(27))
  const choice = rng.below(10)
  const some = units(rng.between(50_00, 500_00)) / 100n
  if (choice < 4 && delegated(staker) < MOST_STAKED) deposit(x, account, staker, some, hash)
  if (choice < 5) delegate(x, account, staker, rng.pick(VALIDATORS), staker.undelegated, hash)
  else if (choice < 8) undelegate(x, account, staker, some, hash)
  else withdraw(x, account, staker, min(staker.undelegated, some), hash)
}

function deposit(x: Exchange, account: number, staker: Staker, amount: bigint, hash: string): void {
  staker.undelegated += amount
  x.staking.deposited += amount
  record(x, hash, { CDeposit: { user: addressOf(x, account), amount: formatAmount(amount) } })
  recordTransfer(x, hash, account, amount, true)
}

/** `amount` below zero takes it back. */
function delegate(x: Exchange, account: number, staker: Staker, validator: number, amount: bigint, hash: string): void {
  if (amount === 0n) return
  const delegation = staker.delegations.get(validator) ?? { amount: 0n, lockedUntilHeight: 0, lockedUntilMs: 0 }
  delegation.amount += amount
  staker.undelegated -= amount
  if (amount > 0n) {
    delegation.lockedUntilHeight = x.height + LOCK_BLOCKS
    delegation.lockedUntilMs = x.block.timeMs + LOCK_BLOCKS * BLOCK_MS
  }
  if (delegation.amount === 0n) staker.delegations.delete(validator)
  else staker.delegations.set(validator, delegation)
  record(x, hash, {
    Delegation: {
      user: addressOf(x, account),
      validator: addressOf(x, validator),
      amount: formatAmount(abs(amount)),
      is_undelegate: amount < 0n,
    },
  })
}

/** Of the first delegation that is not locked, in whole where it is hardly larger. */
function undelegate(x: Exchange, account: number, staker: Staker, some: bigint, hash: string): void {
  const [validator, delegation] = [...staker.delegations].find(([, d]) => d.lockedUntilHeight <= x.height) ?? []
  if (validator === undefined || delegation === undefined) return
  const amount = delegation.amount < 2n * some ? delegation.amount : some
  delegate(x, account, staker, validator, -amount, hash)
}

function withdraw(x: Exchange, account: number, staker: Staker, amount: bigint, hash: string): void {
  if (amount === 0n || staker.pending.length === 5) return
  staker.undelegated -= amount
  staker.pending.push({ amount, dueHeight: x.height + WITHDRAWAL_BLOCKS })
  const withdrawal = { user: addressOf(x, account), amount: formatAmount(amount), is_finalized: false }
  record(x, hash, { CWithdrawal: withdrawal })
}

function finalize(x: Exchange, account: number, staker: Staker): void {
  while (staker.pending[0] !== undefined && staker.pending[0].dueHeight <= x.height) {
    const { amount } = staker.pending.shift()!
    x.staking.withdrawn += amount
    const withdrawal = { user: addressOf(x, account), amount: formatAmount(amount), is_finalized: true }
    record(x, ZERO_HASH, { CWithdrawal: withdrawal })
    recordTransfer(x, ZERO_HASH, account, amount, false)
  }
}

/** Every delegation grows by its reward, less what the validator keeps; a validator's own part is not delegated. */
function reward(x: Exchange): void {
  const perValidator = new Map<number, bigint>()
  for (const [account, { delegations }] of x.staking.stakers) {
    let mine = 0n
    for (const [validator, delegation] of delegations) {
      const whole = delegation.amount / REWARD_PARTS
      const commission = whole / COMMISSION_PARTS
      delegation.amount += whole - commission
      mine += whole - commission
      perValidator.set(validator, (perValidator.get(validator) ?? 0n) + whole)
    }
    if (mine > 0n) x.block.rewards.push({ user: addressOf(x, account), source: 'delegation', amount: mine })
    x.staking.rewarded += mine
  }
  for (const [validator, whole] of perValidator) payCommission(x, validator, whole)
  const list = [...perValidator].map(([validator, whole]) => [addressOf(x, validator), formatAmount(whole)] as const)
  if (list.length > 0) record(x, ZERO_HASH, { ValidatorRewards: { validator_to_reward: list } })
}

function payCommission(x: Exchange, validator: number, whole: bigint): void {
  const commission = whole / COMMISSION_PARTS
  if (commission === 0n) return
  stakerOf(x, validator).undelegated += commission
  x.staking.rewarded += commission
  x.block.rewards.push({ user: addressOf(x, validator), source: 'commission', amount: commission })
}
