// Mid prices, as the exchange shows them.

import type { Coin } from '../core/coin.ts'
import { fromScaled, toScaled, trimDecimal } from '../core/decimal.ts'

/** The mid price. If a side is empty, it is the last trade's price, or null if there was no trade. */
export function midOf(bidPx: string | null, askPx: string | null, lastPx: string | null): string | null {
  if (bidPx !== null && askPx !== null) return fromScaled((toScaled(bidPx) + toScaled(askPx)) / 2n)
  return lastPx === null ? null : trimDecimal(lastPx)
}

/** JSON string of mids by coin, sorted by name. */
export function midsText(mids: readonly (readonly [coin: Coin, mid: string])[]): string {
  // Built as a string, because an object would lose a coin named `__proto__` and reorder a coin named `1`.
  const sorted = [...mids].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([coin, mid]) => `${JSON.stringify(coin)}:"${mid}"`).join(',')}}`
}
