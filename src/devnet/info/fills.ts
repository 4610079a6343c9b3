// Fills of a wallet: newest first or by time, whole or with the parts of one order and block put together.

import { amountOf, formatAmount, notional, UNIT } from '../exchange/fixed-point.ts'
import type { NodeFill } from '../exchange/node-block.ts'
import type { Scene, SomeAnswers } from './answer.ts'

/** Rows of one answer. */
const MAX_ROWS = 2_000

/** A fill as the public API shows it: without what only the node tells. */
type PublicFill = Omit<NodeFill, 'builder' | 'deployerFee'>

/** Takes away what the public API keeps to itself. */
function publicFill({ builder: _builder, deployerFee: _deployerFee, ...fill }: NodeFill): PublicFill {
  return fill
}

const sum = (a: string, b: string) => formatAmount(amountOf(a) + amountOf(b))

/** Two parts of one order as one fill at their average price. */
function joined(a: PublicFill, b: PublicFill): PublicFill {
  const size = amountOf(a.sz) + amountOf(b.sz)
  const ntl = notional(amountOf(a.px), amountOf(a.sz)) + notional(amountOf(b.px), amountOf(b.sz))
  return {
    ...a,
    px: formatAmount((ntl * UNIT) / size),
    sz: formatAmount(size),
    closedPnl: sum(a.closedPnl, b.closedPnl),
    fee: sum(a.fee, b.fee),
    ...(a.builderFee === undefined ? {} : { builderFee: sum(a.builderFee, b.builderFee ?? '0.0') }),
  }
}

/** Oldest first in and out. What has one order, block and direction becomes one fill. */
function aggregated(fills: readonly PublicFill[]): PublicFill[] {
  const merged = new Map<string, PublicFill>()
  for (const fill of fills) {
    const key = `${fill.oid} ${fill.time} ${fill.dir}`
    const known = merged.get(key)
    merged.set(key, known === undefined ? fill : joined(known, fill))
  }
  return [...merged.values()]
}

/** Oldest first, within [from, to]. */
function fillsOf({ past }: Scene, user: string, from: number, to: number, aggregate: boolean): PublicFill[] {
  const kept = past.wallet(user)?.fills.toArray() ?? []
  const fills = kept.filter(({ time }) => time >= from && time <= to).map(publicFill)
  return aggregate ? aggregated(fills) : fills
}

/** Newest first. A slice's fill stands in an envelope that names the TWAP, and does not name it itself. */
function slicesOf(scene: Scene, user: string, from: number, to: number) {
  return fillsOf(scene, user, from, to, false)
    .filter(({ twapId }) => twapId !== null)
    .toReversed()
    .map((fill) => ({ fill: { ...fill, twapId: null }, twapId: fill.twapId }))
}

const ever = Number.POSITIVE_INFINITY

/** What is kept of a wallet is its last 2,000 fills, so no answer is longer. */
export const FILL_ANSWERS = {
  userFills: (scene, { user, aggregateByTime }) => fillsOf(scene, user, 0, ever, aggregateByTime === true).toReversed(),
  userFillsByTime: (scene, { user, startTime, endTime, aggregateByTime, reversed }) => {
    const fills = fillsOf(scene, user, startTime, endTime ?? ever, aggregateByTime === true)
    return (reversed === true ? fills.toReversed() : fills).slice(0, MAX_ROWS)
  },
  userTwapSliceFills: (scene, { user }) => slicesOf(scene, user, 0, ever),
  userTwapSliceFillsByTime: (scene, { user, startTime, endTime }) => slicesOf(scene, user, startTime, endTime ?? ever),
} satisfies SomeAnswers
