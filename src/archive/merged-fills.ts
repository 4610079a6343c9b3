// `aggregateByTime`: the partial fills of one order within one block, merged into one.
// Law: sizes, fees and profits add up exactly; a group of one is passed on untouched.
//
// Fills belong together when wallet, coin, order, side, crossed, dir and feeToken agree: amounts in two tokens cannot
// be added, and an order that flips a position keeps its closing and its opening part apart. The merged fill stands
// where the first stood and keeps its startPosition, time, hash, tid and every field not named here.

import { DECIMAL, fromScaled, SCALE_DECIMALS, toScaled } from '../core/decimal.ts'
import type { Fill, UserFill } from '../protocol/feed/block.ts'

const SUMMED = ['sz', 'closedPnl', 'fee', 'builderFee'] as const
/** Decimals of a merged price beyond those of the prices in it. */
const EXTRA_PX_DECIMALS = 4

/** Order of first appearance. Fills with amounts that are no decimals are left as they are. */
export function aggregateFills(fills: readonly UserFill[]): UserFill[] {
  const groups = new Map<string, UserFill[]>()
  fills.forEach((entry, index) => {
    const key = mergeable(entry[1]) ? groupKey(entry) : `#${index}`
    const group = groups.get(key)
    if (group) group.push(entry)
    else groups.set(key, [entry])
  })
  return [...groups.values()].map((group) => (group.length === 1 ? group[0]! : merge(group)))
}

function groupKey([user, fill]: UserFill): string {
  return [user, fill.coin, fill.oid, fill.side, fill.crossed, fill.dir, fill.feeToken].join('\t')
}

function mergeable(fill: Fill): boolean {
  const amounts: unknown[] = [fill.px, ...SUMMED.map((field) => fill[field] ?? '0')]
  return amounts.every((amount) => typeof amount === 'string' && DECIMAL.test(amount)) && toScaled(fill.sz) > 0n
}

function merge(group: readonly UserFill[]): UserFill {
  const [user, first] = group[0]!
  const fills = group.map(([, fill]) => fill)
  const merged: Fill = { ...first, px: averagePx(fills) }
  for (const field of SUMMED) {
    const amounts = fills.map((fill) => fill[field]).filter((amount) => amount !== undefined)
    if (amounts.length > 0)
      merged[field] = fromScaled(amounts.reduce((sum: bigint, a) => sum + toScaled(a as string), 0n))
  }
  return [user, merged]
}

/** Volume-weighted, rounded half up at EXTRA_PX_DECIMALS beyond the longest price; exact where all prices agree. */
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
