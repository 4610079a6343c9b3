// Exact amounts of a perp fill, split in two if the fill flips the position.

import Big from 'big.js'
import { DECIMAL, UNSIGNED_DECIMAL } from '../core/decimal.ts'
import type { Fill } from '../protocol/feed/block.ts'

/** Decimals of the fee's closing share; the opening share is the exact rest. */
const SHARE_DECIMALS = 10

export interface FillPart {
  /** Unsigned. */
  readonly sz: Big
  readonly fee: Big
}

export interface FillAmounts {
  /** Signed position before and after the fill. */
  readonly start: Big
  readonly end: Big
  readonly px: Big
  readonly closedPnl: Big
  /** Parts that reduce and that open or extend the position; null: no such part. */
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
