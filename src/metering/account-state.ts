// The sums of an account's balance. Law: `granted` = `available` + `held` + `spent`, at every moment.

import type { MicroCredits } from '../core/amount.ts'

export interface AccountState {
  readonly available: MicroCredits
  /** Granted to open leases and not yet reported as spent. */
  readonly held: MicroCredits
  readonly spent: MicroCredits
  /** And not expired. */
  readonly granted: MicroCredits
  /** Reported so late that the balance no longer covered it. */
  readonly writtenOff: MicroCredits
}

export const EMPTY_ACCOUNT: AccountState = { available: 0, held: 0, spent: 0, granted: 0, writtenOff: 0 }

/** What the account can still spend, here or through a lease. */
export function remainingOf(account: AccountState): MicroCredits {
  return account.available + account.held
}
