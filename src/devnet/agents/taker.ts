// Takers open, increase, reduce, close and flip positions, some through a builder and some with passive orders.
// Arbitrageurs take orders that the fair price has passed. The backstop vault sells the positions that it took over.

import { beyondFair, type Exchange, onTick, sizeFor } from '../exchange/exchange.ts'
import { abs, units } from '../exchange/fixed-point.ts'
import type { Market } from '../exchange/market.ts'
import { cancelOrder, placeOrder } from '../exchange/matching.ts'
import { opposite, type Side } from '../exchange/order.ts'
import { positionOf } from '../exchange/order-check.ts'
import { ARBITRAGEURS, builderOf, DEX_TAKERS, SPOT_TAKERS, TAKERS } from '../exchange/roles.ts'
import { ordersOf } from '../exchange/wallet.ts'

const PASSIVE_ORDERS = 3

/** Lets takers trade at random. */
export function takersAct(x: Exchange): void {
  const { markets, takersPpm, otherTakersPpm } = x.scale
  for (const market of markets)
    if (x.rng.chance(takersPpm[market.id] ?? otherTakersPpm)) takerActs(x, takerOf(x, market), market)
}

function takerOf(x: Exchange, market: Market): number {
  if (market.kind !== 'perp') return x.rng.pick(SPOT_TAKERS)
  if (market.dex > 0) return x.rng.pick(DEX_TAKERS)
  // All vaults except the first also trade.
  const vaults = x.vaults.length - 1
  const choice = x.rng.below(TAKERS.length + vaults)
  return choice < TAKERS.length ? TAKERS[choice]! : x.vaults[1 + choice - TAKERS.length]!.account
}

function takerActs(x: Exchange, owner: number, market: Market): void {
  const { rng } = x
  if (rng.chance(150_000)) return placePassive(x, owner, market)
  const { side, sz, reduceOnly } = market.kind === 'perp' ? perpIntent(x, owner, market) : spotIntent(x, owner, market)
  if (sz === 0n) return
  const px = beyondFair(x, market.id, side, 5n)
  const tif = rng.chance(600_000) ? 'FrontendMarket' : 'Ioc'
  const orderType = tif === 'Ioc' ? 'Limit' : 'Market'
  const builder = market.kind === 'perp' ? builderOf(owner) : null
  placeOrder(x, { owner, market: market.id, side, px, sz, tif, orderType, reduceOnly, builder })
}

interface Intent {
  readonly side: Side
  readonly sz: bigint
  readonly reduceOnly: boolean
}

function perpIntent(x: Exchange, owner: number, market: Market): Intent {
  const { rng } = x
  const fresh = sizeFor(x, market.id, units(tradeUsd(x, market)))
  const szi = positionOf(x, owner, market)
  const against: Side = szi > 0n ? 'A' : 'B'
  if (szi === 0n) return { side: rng.chance(500_000) ? 'B' : 'A', sz: fresh, reduceOnly: false }
  const mood = rng.below(100)
  if (mood < 40) return { side: against, sz: abs(szi), reduceOnly: true }
  if (mood < 55) return { side: against, sz: (abs(szi) / 2n / market.lot || 1n) * market.lot, reduceOnly: true }
  if (mood < 68) return { side: against, sz: abs(szi) + fresh, reduceOnly: false }
  return { side: opposite(against), sz: fresh, reduceOnly: false }
}

function tradeUsd(x: Exchange, market: Market): number {
  const usd = x.rng.between(15, 3_000)
  return market.big && x.rng.chance(60_000) ? usd * 20 : usd
}

function spotIntent(x: Exchange, owner: number, market: Market): Intent {
  const { total, hold } = x.accounts[owner]!.spot[market.token]!
  const sz = sizeFor(x, market.id, units(x.rng.between(15, 1_500)))
  const free = ((total - hold) / market.lot) * market.lot
  const sell = x.rng.chance(500_000) && free > 0n
  return { side: sell ? 'A' : 'B', sz: sell && free < sz ? free : sz, reduceOnly: false }
}

/**
 * Places a limit order a little away from the fair price. If the wallet has several such orders, the oldest is
 * canceled.
 */
function placePassive(x: Exchange, owner: number, market: Market): void {
  const side: Side = x.rng.chance(500_000) ? 'B' : 'A'
  const mine = ordersOf(x.accounts[owner]!, market.id, side)
  const oldest = mine.length < PASSIVE_ORDERS ? null : mine.reduce((a, b) => (a.oid < b.oid ? a : b))
  if (oldest) cancelOrder(x, oldest)
  const offset = market.tick * BigInt(x.rng.below(30))
  const { fair } = x.quotes[market.id]!
  const px = onTick(market.id, side === 'B' ? fair - offset : fair + offset, side)
  const sz = sizeFor(x, market.id, units(x.rng.between(20, 2_000)))
  placeOrder(x, { owner, market: market.id, side, px, sz, tif: 'Gtc' })
}

/** Chance per block, in millionths, that an arbitrageur checks a market. */
const ARBITRAGE_PPM = 300_000
const ARBITRAGE_USD = units(60_000)
const ARBITRAGE_CAP = units(3_000_000)

/** Takes orders more than three basis points (and a tick) beyond the fair price, within limits. */
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

/** Every few blocks, the backstop vault closes a small part of a position that it took over. */
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
