// What every wallet paid and got as funding, as the public API shows it.

import type { FundingDelta } from '../exchange/node-block.ts'
import { ZERO_HASH } from '../exchange/node-block.ts'
import { Tail } from '../exchange/tail.ts'

/** Per wallet, as many as the public API answers at most. */
const KEPT = 500

interface FundingPayment {
  readonly time: number
  readonly hash: string
  readonly delta: {
    readonly type: 'funding'
    readonly coin: string
    readonly usdc: string
    readonly szi: string
    readonly fundingRate: string
    readonly nSamples: null
  }
}

export class FundingPayments {
  readonly #wallets = new Map<string, Tail<FundingPayment>>()

  note(deltas: readonly FundingDelta[], time: number): void {
    for (const { user, coin, funding_amount: usdc, szi, funding_rate: fundingRate } of deltas) {
      const tail = this.#wallets.get(user) ?? new Tail<FundingPayment>(KEPT)
      this.#wallets.set(user, tail)
      tail.push({ time, hash: ZERO_HASH, delta: { type: 'funding', coin, usdc, szi, fundingRate, nSamples: null } })
    }
  }

  /** Oldest first. */
  of(user: string): readonly FundingPayment[] {
    return this.#wallets.get(user)?.toArray() ?? []
  }
}
