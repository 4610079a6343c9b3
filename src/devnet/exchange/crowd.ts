// The crowd of a large exchange: wallets with a position in every perp, and the orders that make books deep. It exists
// before block 1. Its first orders have no events, so only a node snapshot shows them.

import { sideOf } from './crowd-orders.ts'
import type { Crowd, SideDepth } from './crowd-state.ts'
import { idsOf } from './crowd-text.ts'
import type { Exchange } from './exchange.ts'
import { notional, UNIT, units } from './fixed-point.ts'
import { type Market, USDC } from './market.ts'
import type { Side } from './order.ts'
import type { Prng } from './prng.ts'
import { openAccount } from './vault.ts'
import { positionAt } from './wallet.ts'

/** Initial orders date from a few weeks before this time. */
const LONG_AGO_MS = 1_770_000_000_000
const AGE_MS = 6_000_000_000
const CASH = units(1_000_000_000)
const POSITION_USD = 20_000

/** True for a crowd wallet, which never runs out of money and is never liquidated. */
export function isCrowd({ crowd }: Exchange, account: number): boolean {
  return crowd !== null && account >= crowd.first && account < crowd.first + crowd.wallets
}

/** Opens the crowd's wallets with money and positions, and fills every book to its depth. Call at height 0. */
export function openCrowd(x: Exchange): void {
  const { crowd } = x
  if (crowd === null) return
  for (let i = 0; i < crowd.wallets; i++) fund(x, openAccount(x))
  for (let i = 0; i < crowd.wallets; i += 2) takePositions(x, crowd.first + i, crowd.first + i + 1)
  for (const market of x.scale.markets) {
    fill(x, crowd, market, 'B', crowd.depths[market.id]!.bids)
    fill(x, crowd, market, 'A', crowd.depths[market.id]!.asks)
  }
  crowd.orders.sort()
}

function fund(x: Exchange, account: number): void {
  const { margin, spot } = x.accounts[account]!
  x.scale.dexes.forEach((_name, dex) => {
    margin[dex]!.rawUsd += CASH
    x.pools.deposited += CASH
  })
  x.scale.tokens.forEach((_name, token) => {
    spot[token]!.total += CASH
    if (token === USDC) x.pools.deposited += CASH
    else x.pools.tokenSupply[token]! += CASH
  })
}

/** Opens opposite positions for two wallets at the market's base price. */
function takePositions(x: Exchange, one: number, other: number): void {
  for (const { id, kind, dex, lot, base, maxLeverage: leverage } of x.scale.markets) {
    if (kind !== 'perp') continue
    const usd = units(x.crowd!.rng.between(1, POSITION_USD))
    const size = ((usd * UNIT) / base / lot || 1n) * lot
    const first = x.crowd!.rng.chance(500_000) ? size : -size
    for (const [account, szi] of [
      [one, first],
      [other, -first],
    ] as const) {
      const cost = szi > 0n ? notional(base, szi) : -notional(base, -szi)
      const margin = x.accounts[account]!.margin[dex]!
      margin.rawUsd -= cost
      margin.positions.set(id, { ...positionAt(leverage), szi, cost })
    }
  }
}

/** Places one order at every level, and the remaining orders mostly near the top. */
function fill(x: Exchange, crowd: Crowd, market: Market, side: Side, { orders, levels }: SideDepth): void {
  const { rng } = crowd
  const book = sideOf(market.id, side)
  const base = Number(market.base / market.tick)
  for (let i = 0; i < orders; i++) {
    const level = i < levels ? i : Math.floor(levels * (rng.below(1_000_000) / 1e6) ** 2)
    const away = distance(level + 1, levels, base)
    const px = side === 'B' ? base - away : base + away
    const lots = crowdLots(rng, market, px)
    const timeMs = LONG_AGO_MS + rng.below(AGE_MS / 1000) * 1000
    crowd.orders.append(book, px, lots, lots, x.nextOid, timeMs, crowd.first + rng.below(crowd.wallets))
    x.nextOid += idsOf(x.nextOid)
  }
}

/**
 * Ticks from the center to a level; the first level is 1. Levels are one tick apart at the top, then increasingly far
 * apart. The last is half of the price or more away.
 */
function distance(level: number, levels: number, base: number): number {
  const span = Math.max(Math.floor(base / 2), levels)
  return level + Math.floor((span - levels) * (level / levels) ** 3)
}

/** A random size in lots, worth 20 to 20,000 USDC. Small sizes are more frequent. */
export function crowdLots(rng: Prng, market: Market, px: number): number {
  const usd = 20 + 19_980 * (rng.below(1_000_000) / 1e6) ** 4
  return Math.max(1, Math.round(usd / (px * 10 ** -market.pxDecimals * 10 ** -market.szDecimals)))
}
