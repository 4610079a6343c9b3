// Takers open, add to, cut, close and flip positions; a part of them through a builder, a part of
// them with passive orders.

import { beyondFair, type Exchange, onTick, sizeFor } from '../exchange/exchange.ts'
import { abs, units } from '../exchange/fixed-point.ts'
import type { Market } from '../exchange/market.ts'
import { cancelOrder, placeOrder } from '../exchange/matching.ts'
import { opposite, type Side } from '../exchange/order.ts'
import { positionOf } from '../exchange/order-check.ts'
import { builderOf, DEX_TAKERS, SPOT_TAKERS, TAKERS } from '../exchange/roles.ts'
import { ordersOf } from '../exchange/wallet.ts'

const PASSIVE_ORDERS = 3

/** Takers trade where chance has it. */
export function takersAct(x: Exchange): void {
  const { markets, takersPpm, otherTakersPpm } = x.scale
  for (const market of markets)
    if (x.rng.chance(takersPpm[market.id] ?? otherTakersPpm)) takerActs(x, takerOf(x, market), market)
}

function takerOf(x: Exchange, market: Market): number {
  if (market.kind !== 'perp') return x.rng.pick(SPOT_TAKERS)
  if (market.dex > 0) return x.rng.pick(DEX_TAKERS)
  // The vaults after the first are run by traders too.
  const vaults = x.vaults.length - 1
  const choice = x.rng.below(TAKERS.length + vaults)
  return choice < TAKERS.length ? TAKERS[choice]! : x.vaults[1 + choice - TAKERS.length]!.account
}

function takerActs(x: Exchange, owner: number, market: Market): void {
  const { rng } = x
  if (rng.chance(150_000)) return bePassive(x, owner, market)
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

/** A limit order a little away from the price; the oldest goes when there are several. */
function bePassive(x: Exchange, owner: number, market: Market): void {
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
