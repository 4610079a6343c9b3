// A book's levels put together by price steps, with what lies up to each. Laws: bids are rounded down and asks up, so that
// the two never meet where they did not; no size is lost or counted twice; rows come best first.

/** A level as books hold it. */
export interface BookLevel {
  readonly px: string
  readonly sz: string
}

export interface BookRow {
  readonly px: number
  readonly sz: number
  /** With all better rows. */
  readonly total: number
}

export type Side = 'bid' | 'ask'

/** Price steps to choose from, finest first: of five figures of this price, and 2 to 1,000 times as wide. */
export function stepsOf(price: number): number[] {
  if (!(price > 0)) return []
  const finest = 10 ** (Math.floor(Math.log10(price)) - 4)
  return [1, 2, 5, 10, 20, 50, 100, 1_000].map((factor) => Number((finest * factor).toPrecision(12)))
}

/** At most `most` rows of a side. `step` 0: each level by itself. */
export function groupedRows(levels: Iterable<BookLevel>, side: Side, step: number, most: number): BookRow[] {
  const rows: BookRow[] = []
  let total = 0
  let open: { px: number; sz: number } | null = null
  const close = () => {
    if (open !== null) rows.push({ ...open, total })
  }
  for (const level of levels) {
    const px = rounded(Number(level.px), side, step)
    if (open === null || px !== open.px) {
      close()
      open = null
      if (rows.length === most) break
      open = { px, sz: 0 }
    }
    const sz = Number(level.sz)
    open.sz += sz
    total += sz
  }
  close()
  return rows
}

/** Decimals that prices of this step have. */
export function stepDecimals(step: number): number {
  return step > 0 ? Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9))) : 8
}

function rounded(px: number, side: Side, step: number): number {
  if (step <= 0) return px
  // A price on a step stays there, whatever a quotient of floats makes of it.
  const steps = px / step
  const near = Math.round(steps)
  const whole = Math.abs(steps - near) < 1e-7 ? near : side === 'bid' ? Math.floor(steps) : Math.ceil(steps)
  return Number((whole * step).toFixed(stepDecimals(step) + 2))
}

/** What the two best prices leave between them. */
export function spreadOf(bid: BookLevel | undefined, ask: BookLevel | undefined) {
  if (!bid || !ask) return null
  const low = Number(bid.px)
  const high = Number(ask.px)
  const middle = (low + high) / 2
  return { size: high - low, middle, basisPoints: ((high - low) / middle) * 10_000 }
}
