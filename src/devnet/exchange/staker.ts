// What wallets have staked.

interface Delegation {
  amount: bigint
  /** Not to be taken back before this height, which was expected at this time. */
  lockedUntilHeight: number
  lockedUntilMs: number
}

export interface Staker {
  undelegated: bigint
  /** By the validator's account index. */
  readonly delegations: Map<number, Delegation>
  readonly pending: { readonly amount: bigint; readonly dueHeight: number }[]
}

export interface Staking {
  deposited: bigint
  withdrawn: bigint
  rewarded: bigint
  /** By account index. */
  readonly stakers: Map<number, Staker>
}

/** Nobody has staked yet. */
export function emptyStaking(): Staking {
  return { deposited: 0n, withdrawn: 0n, rewarded: 0n, stakers: new Map() }
}

/** A staker that has nothing. */
export function emptyStaker(): Staker {
  return { undelegated: 0n, delegations: new Map(), pending: [] }
}

/** What a staker has with all validators. */
export function delegated(staker: Staker): bigint {
  let sum = 0n
  for (const { amount } of staker.delegations.values()) sum += amount
  return sum
}
