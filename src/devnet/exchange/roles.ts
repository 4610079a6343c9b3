// Roles of the wallets. A role is a range of account indexes, which is the same for every seed. The vaults' own wallets
// have later indexes.

import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import type { Builder } from './order.ts'

const range = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => first + i)

export const MAIN_MAKERS = range(0, 6)
export const DEX_MAKERS = range(6, 2)
export const SPOT_MAKERS = range(8, 2)
export const ARBITRAGEURS = range(10, 2)
export const BUILDERS = range(12, 3)
export const TAKERS = range(15, 24)
export const DEX_TAKERS = range(39, 4)
export const SPOT_TAKERS = range(43, 4)
/** Addresses of the documentation's samples, by account. The others are random. */
export const SAMPLE_ADDRESSES: ReadonlyMap<number, string> = new Map([
  [MAIN_MAKERS[0]!, USER],
  [BUILDERS[0]!, OTHER_USER],
])
/** Sub-accounts of the first takers. */
export const SUB_ACCOUNTS = [
  { master: 15, account: 16 },
  { master: 15, account: 17 },
  { master: 21, account: 22 },
] as const
/** Takers who also stake. */
export const STAKERS = range(15, 8)
/** Wallets that have all their money in one isolated position at the highest leverage. */
export const GAMBLERS = range(47, 10)
export const TWAPPERS = range(57, 3)
/** Leader of the backstop vault, which is the first vault. */
export const VAULT_LEADER = 60
export const WALLETS = 61
/** Maximum number of vaults, which limits the number of wallets. */
export const MAX_VAULTS = 6

/**
 * How a wallet's balances are combined: makers keep perp and spot balances separate, and arbitrageurs have them
 * combined.
 */
export function abstractionOf(account: number): 'disabled' | 'portfolioMargin' | 'unifiedAccount' | 'default' {
  if (MAIN_MAKERS.includes(account)) return 'disabled'
  if (!ARBITRAGEURS.includes(account)) return 'default'
  return account === ARBITRAGEURS[0] ? 'portfolioMargin' : 'unifiedAccount'
}

/** True for wallets whose position is isolated. */
export function isIsolated(account: number): boolean {
  return GAMBLERS.includes(account)
}

/** True for wallets that trade with a maker rebate. */
export function isMaker(account: number): boolean {
  return account < ARBITRAGEURS[0]!
}

/** Every third taker always trades through the same builder, at the same fee. */
export function builderOf(owner: number): Builder | null {
  return owner % 3 === 0 ? { account: BUILDERS[(owner / 3) % BUILDERS.length]!, f: 10 + (owner % 5) * 10 } : null
}
