// A wallet's fills as the public info API shows them.

import type { Fill, UserFill } from '../protocol/feed/block.ts'
import { aggregateFills } from './merged-fills.ts'

/** What only the node and the streams tell of a fill. */
export const NODE_ONLY = ['builder', 'deployerFee', 'priorityGas'] as const

/** A fill of a TWAP order, which stands beside the fill. */
interface SliceRow {
  readonly fill: Fill
  readonly twapId: number
}

/** Of one block, in its order. */
export function fillRows(fills: readonly UserFill[], isAggregated = false): Fill[] {
  return (isAggregated ? aggregateFills(fills) : fills).map(([, fill]) => without(fill, NODE_ONLY))
}

/** Those of TWAP orders alone. */
export function sliceRows(fills: readonly UserFill[], isAggregated = false): SliceRow[] {
  const slices = fills.filter(([, { twapId }]) => typeof twapId === 'number')
  return fillRows(slices, isAggregated).map((fill) => ({
    fill: { ...fill, twapId: null },
    twapId: fill.twapId as number,
  }))
}

/** What tells a fill apart from others of its wallet; of merged ones the first `tid` depends on who merges. */
export function fillIdOf({ oid, time, tid, dir }: Fill, isAggregated = false): string {
  return `${oid} ${time} ${isAggregated ? dir : tid}`
}

/** A copy that lacks some fields. */
export function without(fill: Fill, fields: readonly string[]): Fill {
  const own = { ...fill }
  for (const field of fields) delete own[field]
  return own
}
