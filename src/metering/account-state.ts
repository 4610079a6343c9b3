// Balance of an account. Invariant: `granted` = `available` + `held` + `spent` at all times.

import type { MicroCredits } from '../core/amount.ts'

export interface AccountState {
  readonly available: MicroCredits
  /** Leased and not yet reported as spent. */
  readonly held: MicroCredits
  readonly spent: MicroCredits
  /** Excludes expired credits. */
  readonly granted: MicroCredits
  /** Spending reported after the balance was exhausted. */
  readonly writtenOff: MicroCredits
}

export const EMPTY_ACCOUNT: AccountState = { available: 0, held: 0, spent: 0, granted: 0, writtenOff: 0 }

/** Credits the account can still spend, directly or through a lease. */
export function remainingOf(account: AccountState): MicroCredits {
  return account.available + account.held
}
