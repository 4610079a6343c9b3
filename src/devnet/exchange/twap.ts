// TWAP orders, which trade a total size in equal slices, about one per second. Slices are system actions with hash
// zero.

import { beyondFair, type Exchange, sizeFor, type Twap } from './exchange.ts'
import { amountOf, formatAmount, notional, units } from './fixed-point.ts'
import { marketAt, perpsOf } from './market.ts'
import { placeOrder } from './matching.ts'
import type { NodeTwapStatus } from './node-block.ts'
import { positionOf } from './order-check.ts'
import { TWAPPERS } from './roles.ts'

const MAX_ACTIVE = 4
const START_PPM = 4_000
const SLICES = 30
const BLOCKS_PER_SLICE = 14
/** Duration of a TWAP order: half a minute, rounded up to whole minutes. */
const MINUTES = 1

/** Starts a TWAP order occasionally, and sends the slices that are due. */
export function runTwaps(x: Exchange): void {
  if (x.twaps.length < MAX_ACTIVE && x.rng.chance(START_PPM)) start(x)
  for (let i = x.twaps.length - 1; i >= 0; i--) {
    const twap = x.twaps[i]!
    if (twap.nextHeight > x.height) continue
    slice(x, twap)
    if (twap.slicesLeft > 0) continue
    x.twaps.splice(i, 1)
    record(x, twap, 'finished')
  }
}

function start(x: Exchange): void {
  const owner = x.rng.pick(TWAPPERS)
  const market = x.rng.pick(perpsOf(0, x.scale.markets))
  const szi = positionOf(x, owner, market)
  // The order is opposite to the current position, so that positions stay bounded.
  const side = szi === 0n ? (x.rng.chance(500_000) ? 'B' : 'A') : szi > 0n ? 'A' : 'B'
  const sliceSz = sizeFor(x, market.id, units(x.rng.between(50, 3_000)))
  const id = x.nextTwapId++
  const twap: Twap = {
    id,
    owner,
    market: market.id,
    side,
    sliceSz,
    startMs: x.block.timeMs,
    executedSz: 0n,
    executedNtl: 0n,
    slicesLeft: SLICES,
    nextHeight: x.height,
  }
  x.twaps.push(twap)
  record(x, twap, 'activated')
}

function record(x: Exchange, twap: Twap, status: NodeTwapStatus['status']): void {
  x.block.twapStatuses.push({ time: x.block.time, twap_id: twap.id, state: twapState(x, twap), status })
}

/** The current state of a TWAP order in the format of the node and the public API. */
export function twapState(x: Exchange, twap: Twap): NodeTwapStatus['state'] {
  const { owner, market, side, sliceSz, startMs, executedSz, executedNtl } = twap
  return {
    coin: marketAt(market).coin,
    user: x.accounts[owner]!.address,
    side,
    sz: formatAmount(sliceSz * BigInt(SLICES)),
    executedSz: formatAmount(executedSz),
    executedNtl: formatAmount(executedNtl),
    minutes: MINUTES,
    reduceOnly: false,
    randomize: false,
    timestamp: startMs,
    trigger: null,
    stopPx: null,
  }
}

function slice(x: Exchange, twap: Twap): void {
  const { id, owner, market, side, sliceSz } = twap
  twap.slicesLeft--
  twap.nextHeight = x.height + BLOCKS_PER_SLICE
  const px = beyondFair(x, market, side, 30n)
  const sz = sliceSz > 0n ? sliceSz : marketAt(market).lot
  const before = x.block.fills.length
  const order = placeOrder(x, { owner, market, side, px, sz, tif: 'Ioc', orderType: 'Twap Slice', twapId: id })
  twap.executedSz += sz - order.sz
  for (const [, fill] of x.block.fills.slice(before))
    if (fill.twapId === id) twap.executedNtl += notional(amountOf(fill.px), amountOf(fill.sz))
}
