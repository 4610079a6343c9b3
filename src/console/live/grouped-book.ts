// Groups the levels of a book by price step with cumulative sizes, and outlines its depth. Invariants: bids are rounded down
// and asks up, so that grouping never crosses the book; no size is lost or counted twice; rows are sorted best first; both
// depth outlines share one scale, set by the deeper side.

export interface BookLevel {
  readonly px: string
  readonly sz: string
}

export interface BookRow {
  readonly px: number
  readonly sz: number
  /** Cumulative size, including all better rows. */
  readonly total: number
}

export type Side = 'bid' | 'ask'

/** Price steps to choose from, finest first: the fifth significant figure of the price, and 2 to 1,000 times that. */
export function priceSteps(price: number): number[] {
  if (!(price > 0)) return []
  const finest = 10 ** (Math.floor(Math.log10(price)) - 4)
  return [1, 2, 5, 10, 20, 50, 100, 1_000].map((factor) => Number((finest * factor).toPrecision(12)))
}

/** Groups one side into at most `maxRows` rows. `step` 0 keeps each level. */
export function groupedRows(levels: Iterable<BookLevel>, side: Side, step: number, maxRows: number): BookRow[] {
  const rows: BookRow[] = []
  let total = 0
  let open: { px: number; sz: number } | null = null
  const close = () => {
    if (open !== null) rows.push({ ...open, total })
  }
  for (const level of levels) {
    const px = roundToStep(Number(level.px), side, step)
    if (open === null || px !== open.px) {
      close()
      open = null
      if (rows.length === maxRows) break
      open = { px, sz: 0 }
    }
    const sz = Number(level.sz)
    open.sz += sz
    total += sz
  }
  close()
  return rows
}

/** Decimals needed for prices of this step. */
export function stepDecimals(step: number): number {
  return step > 0 ? Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9))) : 8
}

function roundToStep(px: number, side: Side, step: number): number {
  if (step <= 0) return px
  // Float division must not move a price that is already on a step.
  const steps = px / step
  const near = Math.round(steps)
  const whole = Math.abs(steps - near) < 1e-7 ? near : side === 'bid' ? Math.floor(steps) : Math.ceil(steps)
  return Number((whole * step).toFixed(stepDecimals(step) + 2))
}

/** The spread between the best prices, or null without both sides. */
export function spreadOf(bid: BookLevel | undefined, ask: BookLevel | undefined) {
  if (!bid || !ask) return null
  const low = Number(bid.px)
  const high = Number(ask.px)
  const middle = (low + high) / 2
  return { size: high - low, middle, basisPoints: ((high - low) / middle) * 10_000 }
}

export interface DepthChart {
  readonly bids: string
  readonly asks: string
  /** Lowest and highest price, and the largest cumulative size between them. */
  readonly low: number
  readonly high: number
  readonly maxTotal: number
}

type DepthPoints = readonly (readonly [px: number, total: number])[]

/** `share` is the distance from the mid price as a fraction of it. Null without both sides. */
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
  const below = cumulativeSizes(bids, low, high)
  const above = cumulativeSizes(asks, low, high)
  const max = Math.max(below.at(-1)?.[1] ?? 0, above.at(-1)?.[1] ?? 0)
  const outline = (sums: DepthPoints, edge: number) => pathOf(sums, edge, { width, height, low, high, maxTotal: max })
  return { bids: outline(below, 0), asks: outline(above, width), low, high, maxTotal: max }
}

function cumulativeSizes(levels: readonly BookLevel[], low: number, high: number): DepthPoints {
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

interface ChartArea {
  readonly width: number
  readonly height: number
  readonly low: number
  readonly high: number
  readonly maxTotal: number
}

/** Steps from the best price to the edge; of several levels in one pixel only the last is drawn. */
function pathOf(sums: DepthPoints, edge: number, { width, height, low, high, maxTotal }: ChartArea): string {
  const [best] = sums
  if (!best || maxTotal <= 0) return ''
  const x = (px: number) => Math.round(((px - low) / (high - low)) * width * 10) / 10
  const y = (total: number) => Math.round((1 - total / maxTotal) * height * 10) / 10
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
