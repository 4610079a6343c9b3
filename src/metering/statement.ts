// Credits granted and charged in a window. Types only; statement.store.ts computes it.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'

export interface StatementSums {
  readonly opening: MicroCredits
  readonly granted: MicroCredits
  /** Plan credits that were unspent when their period ended. */
  readonly expired: MicroCredits
  readonly charged: MicroCredits
  /** Part of the lines' cost that was reported after the balance was exhausted. */
  readonly writtenOff: MicroCredits
  readonly closing: MicroCredits
}

/** Usage of one key and type. If `keyHash` is null, it is the sum of the remaining lines. */
export interface StatementLine {
  readonly keyHash: KeyHash | null
  readonly product: string
  readonly type: string
  readonly count: number
  readonly amount: MicroCredits
}

/** Credits from a plan's period, or from a grant (`plan` null). */
export interface StatementGrant {
  readonly at: number
  readonly plan: string | null
  readonly amount: MicroCredits
}

export interface Statement extends StatementSums {
  readonly given: readonly StatementGrant[]
  /** Highest cost first. */
  readonly lines: readonly StatementLine[]
}
