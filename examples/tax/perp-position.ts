// A perp position at its average entry price, as the exchange counts it. A flip closes the whole position and opens one on
// the other side.

import { Big } from 'big.js'

const ZERO = new Big(0)

export class PerpPosition {
  /** Signed size. */
  szi = ZERO
  /** Signed: what the open size cost. Meaningless while `isKnown` is false. */
  cost = ZERO
  /** False for a position that was opened before the first row, or across missing rows, until it is closed. */
  isKnown = true

  /** The size is this one, and nobody knows at which price it was opened. */
  assume(szi: Big): void {
    this.szi = szi
    this.cost = ZERO
    this.isKnown = szi.eq(0)
  }

  /**
   * Applies a fill.
   *
   * @param change - Signed size.
   * @returns The closed size, and the profit before fees. The profit is null if the entry price is unknown.
   */
  fill(change: Big, px: Big): { closed: Big; pnl: Big | null } {
    const isOpening = this.szi.eq(0) || this.szi.gt(0) === change.gt(0)
    const notional = change.times(px)
    if (isOpening) {
      this.szi = this.szi.plus(change)
      this.cost = this.cost.plus(notional)
      return { closed: ZERO, pnl: ZERO }
    }
    const open = this.szi.abs()
    const closed = change.abs().lt(open) ? change.abs() : open
    const isWhole = closed.eq(open)
    const released = isWhole ? this.cost : this.cost.times(closed).div(open)
    const proceeds = (this.szi.gt(0) ? closed : closed.times(-1)).times(px)
    const pnl = this.isKnown ? proceeds.minus(released) : null
    this.szi = this.szi.plus(change)
    this.cost = this.cost.minus(released)
    if (isWhole) {
      this.isKnown = true
      this.cost = this.szi.times(px)
    }
    return { closed, pnl }
  }
}
