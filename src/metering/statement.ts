// What an account was given and charged in a window, as its meter tells it. Types alone: statement.store.ts sums it up.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'

export interface StatementSums {
  readonly opening: MicroCredits
  readonly granted: MicroCredits
  /** What plans had left when their periods ended. */
  readonly expired: MicroCredits
  readonly charged: MicroCredits
  /** Part of what the lines cost: told of when the balance was gone. */
  readonly writtenOff: MicroCredits
  readonly closing: MicroCredits
}

/** What a key used of a type; `keyHash` null: what many further lines have together. */
export interface StatementLine {
  readonly keyHash: KeyHash | null
  readonly product: string
  readonly type: string
  readonly count: number
  readonly amount: MicroCredits
}

/** Credits that came: of a plan's period, or by a grant (`plan` null). */
export interface StatementGrant {
  readonly at: number
  readonly plan: string | null
  readonly amount: MicroCredits
}

export interface Statement extends StatementSums {
  readonly given: readonly StatementGrant[]
  /** Those that cost most first. */
  readonly lines: readonly StatementLine[]
}
