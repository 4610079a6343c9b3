// What a subscription minute costs (an info call's price stands in its query file). Prices that the specification
// shows are its own; the others are the operator's defaults. Amounts are micro-credits.

import { MICRO_PER_CREDIT } from './amount.ts'
import type { MicroCredits } from './meter-api.ts'

const ONE = MICRO_PER_CREDIT

const COIN_MINUTES: Readonly<Record<string, { readonly perCoin: MicroCredits; readonly wildcard: MicroCredits }>> = {
  l2BookDiff: { perCoin: 130_000, wildcard: 10 * ONE },
  l2BookDiff2: { perCoin: 130_000, wildcard: 10 * ONE },
  l2Book: { perCoin: 500_000, wildcard: 50 * ONE },
  l4Book: { perCoin: 3 * ONE, wildcard: 300 * ONE },
}

/** Who cannot pay for a minute of any stream is told so before the upgrade. */
export const CHEAPEST_MINUTE: MicroCredits = 130_000

/** Price of one started minute of a subscription; `coins` is the length of its list (1 for a single one). */
export function streamPricePerMinute(type: string, coins: number | 'wildcard'): MicroCredits {
  const price = Object.hasOwn(COIN_MINUTES, type) ? COIN_MINUTES[type] : undefined
  if (price === undefined) return ONE
  return coins === 'wildcard' ? price.wildcard : price.perCoin * coins
}
