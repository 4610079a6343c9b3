// A wallet's fills as the public info API shows them.

import { DECIMAL, fromScaled, SCALE_DECIMALS, toScaled } from '../core/decimal.ts'
import type { Fill, UserFill } from '../protocol/feed/block.ts'

/** Fields that appear only in the node's files and in streams. */
export const NODE_ONLY = ['builder', 'deployerFee', 'priorityGas'] as const

/** A fill of a TWAP order, with the ID of the order. */
interface SliceRow {
  readonly fill: Fill
  readonly twapId: number
}

/** Fills of one block, in order. */
export function fillRows(fills: readonly UserFill[], isAggregated = false): Fill[] {
  return (isAggregated ? aggregateFills(fills) : fills).map(([, fill]) => omitFields(fill, NODE_ONLY))
}

/** Returns only the fills of TWAP orders. */
export function sliceRows(fills: readonly UserFill[], isAggregated = false): SliceRow[] {
  const slices = fills.filter(([, { twapId }]) => typeof twapId === 'number')
  return fillRows(slices, isAggregated).map((fill) => ({
    fill: { ...fill, twapId: null },
    twapId: fill.twapId as number,
  }))
}

/** Identifies a fill of a wallet. Aggregated fills omit `tid`, which depends on the aggregation. */
export function fillIdOf({ oid, time, tid, dir }: Fill, isAggregated = false): string {
  return `${oid} ${time} ${isAggregated ? dir : tid}`
}

/** Returns a copy that omits some fields. */
export function omitFields(fill: Fill, fields: readonly string[]): Fill {
  const own = { ...fill }
  for (const field of fields) delete own[field]
  return own
}

// Implements `aggregateByTime`: merges the partial fills of one order within one block. Invariants: the merged sizes,
// fees and profits are exact sums; a group with one fill is returned unchanged.
//
// Fills are merged if they agree in wallet, coin, order, side, crossed, dir and feeToken. Amounts in different tokens
// cannot be added. An order that flips a position keeps its closing part separate from its opening part. The merged
// fill replaces the first one and keeps its startPosition, time, hash, tid and every field not named here.

const SUMMED = ['sz', 'closedPnl', 'fee', 'builderFee'] as const
/** A merged price has this many more decimals than the longest price in its group. */
const EXTRA_PX_DECIMALS = 4

/** Groups keep their order of first appearance. Fills with amounts that are not decimals are left unchanged. */
export function aggregateFills(fills: readonly UserFill[]): UserFill[] {
  const groups = new Map<string, [UserFill, ...UserFill[]]>()
  fills.forEach((entry, index) => {
    const key = isMergeable(entry[1]) ? groupKey(entry) : `#${index}`
    const group = groups.get(key)
    if (group) group.push(entry)
    else groups.set(key, [entry])
  })
  return Array.from(groups.values(), merge)
}

function groupKey([user, fill]: UserFill): string {
  return [user, fill.coin, fill.oid, fill.side, fill.crossed, fill.dir, fill.feeToken].join('\t')
}

function isMergeable(fill: Fill): boolean {
  const amounts: unknown[] = [fill.px, ...SUMMED.map((field) => fill[field] ?? '0')]
  return amounts.every((amount) => typeof amount === 'string' && DECIMAL.test(amount)) && toScaled(fill.sz) > 0n
}

function merge(group: readonly [UserFill, ...UserFill[]]): UserFill {
  if (group.length === 1) return group[0]
  const [user, first] = group[0]
  const fills = group.map(([, fill]) => fill)
  const merged: Fill = { ...first, px: averagePx(fills) }
  for (const field of SUMMED) {
    const amounts = fills.map((fill) => fill[field]).filter((amount) => amount !== undefined)
    if (amounts.length > 0)
      merged[field] = fromScaled(amounts.reduce((sum: bigint, a) => sum + toScaled(a as string), 0n))
  }
  return [user, merged]
}

/**
 * The volume-weighted price, rounded half up to EXTRA_PX_DECIMALS more decimals than the longest price. It is exact if
 * all prices are equal.
 */
function averagePx(fills: readonly Fill[]): string {
  let value = 0n
  let size = 0n
  let decimals = 0
  for (const { px, sz } of fills) {
    const scaledSize = toScaled(sz)
    value += toScaled(px) * scaledSize
    size += scaledSize
    decimals = Math.max(decimals, px.includes('.') ? px.length - px.indexOf('.') - 1 : 0)
  }
  const step = 10n ** BigInt(Math.max(0, SCALE_DECIMALS - decimals - EXTRA_PX_DECIMALS))
  return fromScaled(((2n * value + size * step) / (2n * size * step)) * step)
}
