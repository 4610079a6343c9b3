// The meter of an account as a pipeline knows it: the ledger's own decisions over one pipeline's sums.

import { type AccountState, EMPTY_ACCOUNT } from '../../../src/metering/account-state.ts'
import { decideLate, evolveAccount } from '../../../src/metering/ledger.ts'
import type { Owed } from '../../../src/pipelines/sink/owed.ts'

export class ModelMeter {
  account: AccountState = EMPTY_ACCOUNT
  /** What it was told, in order. */
  readonly told: number[] = []
  known = 0

  constructor(micro: number) {
    this.grant(micro)
  }

  grant(amount: number): void {
    this.account = evolveAccount(this.account, { type: 'granted', amount })
  }

  take({ spent }: Pick<Owed, 'spent'>): { readonly available: number } {
    this.told.push(spent)
    if (spent > this.known) {
      const event = decideLate(this.account, spent - this.known, Number.POSITIVE_INFINITY)
      this.account = evolveAccount(this.account, event)
      this.known = spent
    }
    return { available: this.account.available }
  }

  /** Charged, or written off. */
  get accounted(): number {
    return this.account.spent + this.account.writtenOff
  }
}
