// Market makers: each keeps a ladder of orders on both sides of the fair price, shifts it against its inventory,
// cancels orders that the price has left behind, and renews a few others.

import { type Exchange, onTick, sizeFor } from '../exchange/exchange.ts'
import { notional, units } from '../exchange/fixed-point.ts'
import { MARKETS, type Market } from '../exchange/market.ts'
import { cancelOrder, placeOrder } from '../exchange/matching.ts'
import type { Order, Side } from '../exchange/order.ts'
import { positionOf } from '../exchange/order-check.ts'
import { DEX_MAKERS, MAIN_MAKERS, SPOT_MAKERS } from '../exchange/roles.ts'
import { ordersOf } from '../exchange/wallet.ts'

interface Plan {
  readonly maker: number
  readonly market: Market
  /** Orders per side. */
  readonly target: number
  /** Ticks from the center to the farthest order. */
  readonly width: number
  /** Chance per side per block of renewing an order, in millionths. */
  readonly renewPpm: number
  /** Maximum number of orders per side that are placed or checked in one block. */
  readonly pace: number
}

const DEEP = { target: 150, width: 600, pace: 6 }
const shallow = (maker: number, market: Market): Plan => {
  const width = market.kind === 'outcome' ? 40 : 80
  return { maker, market, target: 25, width, renewPpm: 30_000, pace: 2 }
}

const RENEW_BIG = [250_000, 180_000, 140_000]

function plansOf(market: Market): Plan[] {
  const renewPpm = RENEW_BIG[market.id]!
  if (market.big) return MAIN_MAKERS.slice(0, 3).map((maker) => ({ maker, market, renewPpm, ...DEEP }))
  if (market.kind !== 'perp') return SPOT_MAKERS.map((maker) => shallow(maker, market))
  if (market.dex > 0) return DEX_MAKERS.map((maker) => shallow(maker, market))
  return [0, 1].map((i) => shallow(MAIN_MAKERS[3 + ((market.id + i) % 3)]!, market))
}

const PLANS = MARKETS.flatMap(plansOf)
/** Scale of the shift, in USDC: the ladder shifts by 20 basis points per this much inventory. */
const LEAN_USD = units(4_000_000)

/** Lets every maker update its ladders, if the scale has makers. */
export function makersAct(x: Exchange): void {
  if (!x.scale.makers) return
  for (const plan of PLANS) {
    const center = centerOf(x, plan)
    tend(x, plan, 'B', center)
    tend(x, plan, 'A', center)
  }
}

function centerOf(x: Exchange, { maker, market }: Plan): bigint {
  const { fair } = x.quotes[market.id]!
  const szi = positionOf(x, maker, market)
  if (market.kind !== 'perp' || szi === 0n) return fair
  return fair - (fair * notional(fair, szi) * 2n) / LEAN_USD / 1000n
}

function tend(x: Exchange, plan: Plan, side: Side, center: bigint): void {
  const { rng } = x
  const orders = ordersOf(x.accounts[plan.maker]!, plan.market.id, side)
  const span = plan.market.tick * BigInt(plan.width)
  // Checking only a few orders per block has a constant cost and still finds misplaced orders soon enough.
  for (let i = 0; i < plan.pace && orders.length > 0; i++) {
    const order = rng.pick(orders)
    const away = side === 'B' ? center - order.px : order.px - center
    if (away < 0n || away > span + span / 8n) cancelOrder(x, order)
  }
  if (orders.length >= plan.target && rng.chance(plan.renewPpm)) cancelOrder(x, rng.pick(orders))
  for (let i = 0; i < plan.pace && orders.length < plan.target; i++) if (quote(x, plan, side, center).slot < 0) break
}

function quote(x: Exchange, { maker, market, width }: Plan, side: Side, center: bigint): Order {
  const { rng } = x
  // This quadratic formula places more orders near the top of the book.
  const far = rng.below(width)
  const ticks = 1 + Math.floor((far * (width + far)) / (2 * width))
  const offset = market.tick * BigInt(ticks)
  const px = onTick(market.id, side === 'B' ? center - offset : center + offset, side)
  const usd = market.big ? rng.between(500, 20_000) + ticks * 40 : rng.between(100, 4_000)
  const cloid = rng.chance(700_000) ? `0x${rng.hex(16)}` : null
  const sz = sizeFor(x, market.id, units(usd))
  return placeOrder(x, { owner: maker, market: market.id, side, px, sz, tif: 'Alo', cloid })
}
