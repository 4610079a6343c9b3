// A perp position and what a fill does to it. Cost is kept as a signed sum of price times size,
// so nothing is lost to an average price.

import { abs, min, notional, toMicro } from './fixed-point.ts'

export interface Position {
  /** Signed: long above zero. */
  szi: bigint
  /** Signed sum of px * sz of what is held. */
  cost: bigint
  leverage: number
  /** Funding paid (above zero) over the position's life, and since its size last changed. */
  fundingSinceOpen: bigint
  fundingSinceChange: bigint
}

type PerpDir = 'Open Long' | 'Open Short' | 'Close Long' | 'Close Short' | 'Long > Short' | 'Short > Long'

interface PositionChange {
  readonly start: bigint
  readonly dir: PerpDir
  readonly closedPnl: bigint
}

/** Applies a fill of signed size `delta` at `px`; the caller drops the position when `szi` is zero. */
export function applyFill(position: Position, delta: bigint, px: bigint): PositionChange {
  const start = position.szi
  const long = start > 0n
  position.szi = start + delta
  position.fundingSinceChange = 0n
  if (start === 0n || long === delta > 0n) {
    position.cost += signed(delta > 0n, notional(px, abs(delta)))
    return { start, dir: delta > 0n ? 'Open Long' : 'Open Short', closedPnl: 0n }
  }
  const closing = min(abs(start), abs(delta))
  const whole = closing === abs(start)
  const released = whole ? position.cost : toMicro((position.cost * closing) / abs(start))
  const closedPnl = signed(long, notional(px, closing)) - released
  const rest = abs(delta) - closing
  position.cost = position.cost - released + signed(delta > 0n, notional(px, rest))
  if (whole) position.fundingSinceOpen = 0n
  if (rest > 0n) return { start, dir: long ? 'Long > Short' : 'Short > Long', closedPnl }
  return { start, dir: long ? 'Close Long' : 'Close Short', closedPnl }
}

function signed(positive: boolean, size: bigint): bigint {
  return positive ? size : -size
}
