// Exact amounts of a perp fill. If the fill flips the position, it has a closing and an opening part.

import Big from 'big.js'
import { DECIMAL, UNSIGNED_DECIMAL } from '../core/decimal.ts'
import type { Fill } from '../protocol/feed/block.ts'

/** Decimals to which the closing part's share of the fee is rounded. The opening part gets the exact remainder. */
const SHARE_DECIMALS = 10
/** To compute with a fill takes about as long as to parse this many characters. */
export const FILL_CHARS = 100

export interface FillPart {
  /** Unsigned size. */
  readonly sz: Big
  readonly fee: Big
}

export interface FillAmounts {
  /** Signed position before the fill; `end` is the position after it. */
  readonly start: Big
  readonly end: Big
  readonly px: Big
  readonly closedPnl: Big
  /** The part that reduces the position, and the part that opens or extends it; null if there is no such part. */
  readonly closing: FillPart | null
  readonly opening: FillPart | null
}

/** Null if an amount is not a decimal, or the fill has no size. */
export function amountsOf(fill: Fill): FillAmounts | null {
  const { startPosition, sz, px, fee, closedPnl, side } = fill
  if (!UNSIGNED_DECIMAL.test(sz) || ![startPosition, px, fee, closedPnl].every((text) => DECIMAL.test(text)))
    return null
  const size = new Big(sz)
  if (size.eq(0)) return null
  const start = new Big(startPosition)
  const isReducing = start.s * (side === 'B' ? 1 : -1) < 0 && !start.eq(0)
  const closingSz = !isReducing ? new Big(0) : size.lt(start.abs()) ? size : start.abs()
  const openingSz = size.minus(closingSz)
  const whole = new Big(fee)
  const closingFee = openingSz.eq(0) ? whole : whole.times(closingSz).div(size).round(SHARE_DECIMALS)
  return {
    start,
    end: side === 'B' ? start.plus(size) : start.minus(size),
    px: new Big(px),
    closedPnl: new Big(closedPnl),
    closing: closingSz.eq(0) ? null : { sz: closingSz, fee: closingFee },
    opening: openingSz.eq(0) ? null : { sz: openingSz, fee: whole.minus(closingFee) },
  }
}

/** Wire format of computed amounts: no exponent, no trailing zeros, no `-0`. */
export function amountText(amount: Big): string {
  return amount.eq(0) ? '0' : amount.toFixed()
}
