// How much of a perp is held open, and how much may be.

import { type Exchange, markPx } from './exchange.ts'
import { notional, units } from './fixed-point.ts'
import type { Market } from './market.ts'

const CAP = units(100_000_000)
/** So small that it is reached: what happens then can be watched. */
const SMALL_CAPS: ReadonlyMap<string, bigint> = new Map([['flx:NVDA', units(5_000)]])

/** USDC. */
export function oiCap(coin: string): bigint {
  return SMALL_CAPS.get(coin) ?? CAP
}

/** Size that is held long of a perp, which is also what is held short. */
export function openInterest(x: Exchange, market: Market): bigint {
  let long = 0n
  for (const { margin } of x.accounts) {
    const szi = margin[market.dex]!.positions.get(market.id)?.szi ?? 0n
    if (szi > 0n) long += szi
  }
  return long
}

export function isAtCap(x: Exchange, market: Market): boolean {
  return notional(markPx(x, market.id), openInterest(x, market)) >= oiCap(market.coin)
}

/** Whether growth is refused: asked of every order, so nobody is counted where the cap is out of reach. */
export function isFull(x: Exchange, market: Market): boolean {
  return SMALL_CAPS.has(market.coin) && isAtCap(x, market)
}
