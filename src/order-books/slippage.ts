// Cost of a market order against the levels of one side. Invariants: no price beyond the known levels is assumed, so a
// size that the book cannot fill stays unfilled; sums are exact, and only the stated results are rounded.

import Big from 'big.js'
import { SCALE_DECIMALS, toScaled, trimDecimal } from '../core/decimal.ts'
import type { Level, Levels } from '../protocol/feed/block.ts'
import { midOf } from './mids.ts'

/** Significant digits of the average price. */
const PRICE_DIGITS = 12
const BPS = 10_000
/** Decimals of the slippage in basis points. */
const BPS_DECIMALS = 4

/** Sizes and prices are decimal strings. All results are rounded half up. */
export interface Slippage {
  /** Null if a side of the book is empty. */
  readonly mid: string | null
  /** Of the filled part, to 12 significant digits; null if nothing is filled. */
  readonly avgPx: string | null
  /** Price of the last level used; null if nothing is filled. */
  readonly worstPx: string | null
  readonly levels: number
  readonly filledSz: string
  readonly unfilledSz: string
  /** Sum of price times size over the filled part, to 18 decimals. */
  readonly notional: string
  /** Distance of the average price from the mid, to 4 decimals; positive is a cost. Null without a mid or a fill. */
  readonly slippageBps: string | null
}

/** A market order of size `sz`, which must be above zero. `B` buys the asks, `A` sells to the bids. */
export function slippageOf(book: Levels, side: 'B' | 'A', sz: string): Slippage {
  const size = toScaled(sz)
  let filledScaled = 0n
  /** With twice the decimals. */
  let notionalScaled = 0n
  let last: Level | null = null
  let levels = 0
  // A book has thousands of levels, for which integers are several times as fast.
  for (const level of book[side === 'B' ? 1 : 0]) {
    const rest = size - filledScaled
    if (rest === 0n) break
    let taken = toScaled(level.sz)
    if (taken > rest) taken = rest
    filledScaled += taken
    notionalScaled += taken * toScaled(level.px)
    last = level
    levels++
  }
  const filled = new Big(`${filledScaled}e-${SCALE_DECIMALS}`)
  const notional = new Big(`${notionalScaled}e-${2 * SCALE_DECIMALS}`)
  const [[bid], [ask]] = book
  const mid = midOf(bid?.px ?? null, ask?.px ?? null, null)
  const isPriced = !filled.eq(0)
  return {
    mid,
    avgPx: isPriced ? wireText(notional.div(filled).prec(PRICE_DIGITS)) : null,
    worstPx: last?.px ?? null,
    levels,
    filledSz: wireText(filled),
    unfilledSz: wireText(new Big(sz).minus(filled)),
    notional: wireText(notional),
    slippageBps: mid !== null && isPriced ? bpsText(filled.times(mid), notional, side) : null,
  }
}

function bpsText(fair: Big, paid: Big, side: 'B' | 'A'): string | null {
  if (fair.eq(0)) return null
  const cost = side === 'B' ? paid.minus(fair) : fair.minus(paid)
  return wireText(cost.times(BPS).div(fair).round(BPS_DECIMALS))
}

const wireText = (value: Big): string => trimDecimal(value.round(SCALE_DECIMALS).toFixed())
