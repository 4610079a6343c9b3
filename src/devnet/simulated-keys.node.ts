// Private keys of the wallets that the simulated exchange itself has.

import { createHash } from 'node:crypto'

/** Seed of an exchange that is started without one. */
export const DEFAULT_SEED = 1

/** The key follows from the seed, because the tokens of the simulated chain are worth nothing. */
export function simulatedKey(seed: number, wallet: 'demo' | 'facilitator'): `0x${string}` {
  return `0x${createHash('sha256').update(`weir devnet ${seed} ${wallet}`).digest('hex')}`
}
