// What a book holds up to each price, as outlines in a space of a given width and height. Laws: both sides have one scale,
// whose top is the deeper of the two; a part of the width is as much of the price on both; what is not there has no outline.

import type { BookLevel } from './grouped-book.ts'

export interface DepthChart {
  readonly bids: string
  readonly asks: string
  /** Lowest and highest price, and the deepest sum within. */
  readonly low: number
  readonly high: number
  readonly most: number
}

type Sums = readonly (readonly [px: number, total: number])[]

/** `share`: how far from the middle, as a part of it. Null: there is no middle. */
export function depthChart(
  bids: readonly BookLevel[],
  asks: readonly BookLevel[],
  { width, height, share }: { readonly width: number; readonly height: number; readonly share: number },
): DepthChart | null {
  const bid = bids[0]
  const ask = asks[0]
  if (!bid || !ask) return null
  const middle = (Number(bid.px) + Number(ask.px)) / 2
  const low = middle * (1 - share)
  const high = middle * (1 + share)
  const below = sumsWithin(bids, low, high)
  const above = sumsWithin(asks, low, high)
  const most = Math.max(below.at(-1)?.[1] ?? 0, above.at(-1)?.[1] ?? 0)
  const outline = (sums: Sums, edge: number) => pathOf(sums, edge, { width, height, low, high, most })
  return { bids: outline(below, 0), asks: outline(above, width), low, high, most }
}

function sumsWithin(levels: readonly BookLevel[], low: number, high: number): Sums {
  const sums: [number, number][] = []
  let total = 0
  for (const { px, sz } of levels) {
    const price = Number(px)
    if (price < low || price > high) break
    total += Number(sz)
    sums.push([price, total])
  }
  return sums
}

interface Space {
  readonly width: number
  readonly height: number
  readonly low: number
  readonly high: number
  readonly most: number
}

/** Steps from the best price to the edge; of many levels in one pixel the last counts. */
function pathOf(sums: Sums, edge: number, { width, height, low, high, most }: Space): string {
  const [best] = sums
  if (!best || most <= 0) return ''
  const x = (px: number) => Math.round(((px - low) / (high - low)) * width * 10) / 10
  const y = (total: number) => Math.round((1 - total / most) * height * 10) / 10
  const first = x(best[0])
  let path = `M${first} ${height}`
  let lastX = Number.NaN
  let lastY = height
  for (const [at, [px, total]] of sums.entries()) {
    const here = x(px)
    const next = sums[at + 1]
    if (next && Math.floor(x(next[0])) === Math.floor(here)) continue
    if (here !== lastX) path += `H${here}`
    lastX = here
    lastY = y(total)
    path += `V${lastY}`
  }
  return `${path}H${edge}V${height}Z`
}
