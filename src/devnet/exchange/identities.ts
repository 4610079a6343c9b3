// Who belongs to whom: sub-accounts, agents, multi-sig signers. Fixed by the roles and the seed, so they need no state.

import type { Exchange } from './exchange.ts'
import { Prng, seedState } from './prng.ts'
import { MAIN_MAKERS, TAKERS, TWAPPERS } from './roles.ts'

interface SubAccount {
  readonly master: number
  readonly account: number
  readonly name: string
}

/** All account indexes. */
export const SUB_ACCOUNTS: readonly SubAccount[] = [
  { master: TAKERS[0]!, account: TAKERS[1]!, name: 'swing' },
  { master: TAKERS[0]!, account: TAKERS[2]!, name: 'hedge' },
  { master: TAKERS[6]!, account: TAKERS[7]!, name: 'desk 2' },
]

/** A wallet that acts only with signatures of others. */
export const MULTI_SIG = {
  account: TWAPPERS[2]!,
  signers: [TAKERS[0]!, TAKERS[6]!, TAKERS[12]!],
  threshold: 2,
} as const

export interface Agent {
  readonly name: string
  readonly address: string
  readonly validUntil: number | null
}

/** 2028-01-01. */
const LATE_MS = 1_830_297_600_000

/** Wallets that may sign for an account: makers have one, every other taker has two. */
export function agentsOf(x: Exchange, account: number): Agent[] {
  const agent = (name: string, number: number, validUntil: number | null): Agent => ({
    name,
    address: `0x${new Prng(seedState(x.seed + (account * 4 + number + 1) * 2 ** 21)).hex(20)}`,
    validUntil,
  })
  if (MAIN_MAKERS.includes(account)) return [agent('quotes', 0, null)]
  if (!TAKERS.includes(account) || account % 2 === 1) return []
  return [agent('bot', 0, LATE_MS), agent('phone', 1, null)]
}

/** Account index that an agent signs for; -1 where the address is nobody's agent. */
export function ownerOfAgent(x: Exchange, address: string): number {
  return [...MAIN_MAKERS, ...TAKERS].find((i) => agentsOf(x, i).some((agent) => agent.address === address)) ?? -1
}
