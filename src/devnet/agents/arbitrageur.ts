// Arbitrageurs take whatever the fair price has left standing; the backstop vault sells off what it took over.

import { beyondFair, type Exchange, onTick, sizeFor } from '../exchange/exchange.ts'
import { abs, units } from '../exchange/fixed-point.ts'
import type { Market } from '../exchange/market.ts'
import { placeOrder } from '../exchange/matching.ts'
import type { Side } from '../exchange/order.ts'
import { positionOf } from '../exchange/order-check.ts'
import { ARBITRAGEURS } from '../exchange/roles.ts'

/** Arbitrageurs look at a market in this share of blocks. */
const ARBITRAGE_PPM = 300_000
const ARBITRAGE_USD = units(60_000)
const ARBITRAGE_CAP = units(3_000_000)

/** Orders more than three basis points (and a tick) beyond the fair price are taken, within bounds. */
export function arbitrageursAct(x: Exchange): void {
  for (const market of x.scale.markets) {
    if (!x.rng.chance(ARBITRAGE_PPM)) continue
    const { fair } = x.quotes[market.id]!
    const gap = (fair * 3n) / 10_000n + market.tick
    const book = x.books[market.id]!
    const ask = book.bestPx('A')
    const bid = book.bestPx('B')
    if (ask !== undefined && ask < fair - gap) arbitrage(x, market, 'B')
    else if (bid !== undefined && bid > fair + gap) arbitrage(x, market, 'A')
  }
}

function arbitrage(x: Exchange, market: Market, side: Side): void {
  const owner = x.rng.pick(ARBITRAGEURS)
  const { fair } = x.quotes[market.id]!
  const szi = positionOf(x, owner, market)
  const grows = side === 'B' ? szi >= 0n : szi <= 0n
  if (market.kind === 'perp' && grows && abs(szi) >= sizeFor(x, market.id, ARBITRAGE_CAP)) return
  const sz = sizeFor(x, market.id, ARBITRAGE_USD)
  placeOrder(x, { owner, market: market.id, side, px: onTick(market.id, fair, side), sz, tif: 'Ioc' })
}

/** The backstop vault sells off what it took over, a little every few blocks. */
export function backstopActs(x: Exchange): void {
  const vault = x.vaults[0]
  if (vault === undefined || x.height % 5 !== 0) return
  for (const margin of x.accounts[vault.account]!.margin) {
    for (const [id, { szi }] of margin.positions) {
      const side: Side = szi > 0n ? 'A' : 'B'
      const px = beyondFair(x, id, side, 10n)
      const sz = sizeFor(x, id, units(20_000))
      placeOrder(x, { owner: vault.account, market: id, side, px, sz, tif: 'Ioc', reduceOnly: true })
      break
    }
  }
}
