// What every wallet has won and traded since it is remembered, in USDC: realised, less fees, with funding.

import { amountOf, notional } from '../exchange/fixed-point.ts'
import { marketOf } from '../exchange/market.ts'
import type { DevnetBlock, FundingDelta } from '../exchange/node-block.ts'

export interface Earned {
  pnl: bigint
  volume: bigint
}

/** Perps apart from everything else. */
interface Earnings {
  readonly perp: Earned
  readonly spot: Earned
}

const none = (): Earnings => ({ perp: { pnl: 0n, volume: 0n }, spot: { pnl: 0n, volume: 0n } })

export class EarningsBook {
  readonly #wallets = new Map<string, Earnings>()

  fills(fills: DevnetBlock['fills']): void {
    for (const [user, { coin, px, sz, closedPnl, fee, feeToken }] of fills) {
      const earned = this.#kind(user, coin)
      earned.volume += notional(amountOf(px), amountOf(sz))
      // A fee in the token bought makes the rest dearer: it is in its cost.
      earned.pnl += amountOf(closedPnl) - (feeToken === 'USDC' ? amountOf(fee) : 0n)
    }
  }

  funding(deltas: readonly FundingDelta[]): void {
    for (const { user, coin, funding_amount } of deltas) this.#kind(user, coin).pnl += amountOf(funding_amount)
  }

  of(user: string): Earnings {
    return this.#wallets.get(user) ?? none()
  }

  #kind(user: string, coin: string): Earned {
    const earnings = this.of(user)
    this.#wallets.set(user, earnings)
    return marketOf(coin)?.kind === 'perp' ? earnings.perp : earnings.spot
  }
}
