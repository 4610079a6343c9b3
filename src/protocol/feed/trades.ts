// Derives trades from fills: each trade is a pair of fills with one `tid`. A fill without a counterpart is not a trade,
// such as a settlement. Neither are fills without a trade id (dust has `tid` 0, on both sides of a coin) or a price:
// an outcome that lost is settled at 0.

import type { Address, Fill } from './block.ts'

/** Fill fields that a trade needs. */
type TradedFill = Pick<Fill, 'coin' | 'side' | 'px' | 'sz' | 'time' | 'hash' | 'tid' | 'crossed'>
type UserTradedFill = readonly [user: Address, fill: TradedFill]

/**
 * `side` and `hash` are those of the taker; the hash is zero if the taker is a TWAP order. `users` are the buyer and
 * the seller.
 */
export interface Trade extends Omit<TradedFill, 'crossed'> {
  readonly users: readonly [string, string]
}

/** Whether a fill has a price of the market. Dust and an outcome that lost have none. */
export function hasMarketPrice({ tid, px }: Pick<Fill, 'tid' | 'px'>): boolean {
  return Boolean(tid) && Number(px) !== 0
}

/** Trades of one block, in the order of their second fills. */
export function tradesOf(fills: readonly UserTradedFill[]): Trade[] {
  const halves = new Map<string, UserTradedFill>()
  return fills.flatMap((fill) => {
    if (!hasMarketPrice(fill[1])) return []
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
