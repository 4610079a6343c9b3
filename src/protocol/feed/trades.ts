// Trades out of fills: what changed hands, each the pair of fills with one `tid`. A fill without its counterpart (a
// settlement, dust) is no trade.

import type { Address, Fill } from './block.ts'

/** What a trade needs of a fill: whatever else a reader keeps, this is there. */
type TradedFill = Pick<Fill, 'coin' | 'side' | 'px' | 'sz' | 'time' | 'hash' | 'tid' | 'crossed'>
type UserTradedFill = readonly [user: Address, fill: TradedFill]

/** `side` and `hash` are the taker's, the hash zero where a TWAP order took; `users` are buyer and seller. */
export interface Trade extends Omit<TradedFill, 'crossed'> {
  readonly users: readonly [string, string]
}

/** The trades of one block, in the order in which their second fills came. */
export function tradesOf(fills: readonly UserTradedFill[]): Trade[] {
  const halves = new Map<string, UserTradedFill>()
  return fills.flatMap((fill) => {
    const id = `${fill[1].tid} ${fill[1].coin}`
    const other = halves.get(id)
    if (other && other[1].side !== fill[1].side) {
      halves.delete(id)
      return [tradeOf(other, fill)]
    }
    halves.set(id, fill)
    return []
  })
}

function tradeOf(one: UserTradedFill, other: UserTradedFill): Trade {
  const [buyer, seller] = one[1].side === 'B' ? [one, other] : [other, one]
  const { coin, side, px, sz, time, hash, tid } = seller[1].crossed ? seller[1] : buyer[1]
  return { coin, side, px, sz, time, hash, tid, users: [buyer[0], seller[0]] }
}
