// The middle prices of books, as the exchange shows them.

import type { Coin } from '../core/coin.ts'
import { fromScaled, toScaled, trimDecimal } from '../core/decimal.ts'

/** The middle of a book; without two sides its last trade, and null before one. */
export function midOf(bidPx: string | null, askPx: string | null, lastPx: string | null): string | null {
  if (bidPx !== null && askPx !== null) return fromScaled((toScaled(bidPx) + toScaled(askPx)) / 2n)
  return lastPx === null ? null : trimDecimal(lastPx)
}

/** JSON text of an object of mids by coin, in the order of names. */
export function midsText(mids: readonly (readonly [coin: Coin, mid: string])[]): string {
  // Text rather than an object: a coin may be called `__proto__`, or `1`, which objects would reorder.
  const sorted = [...mids].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([coin, mid]) => `${JSON.stringify(coin)}:"${mid}"`).join(',')}}`
}
