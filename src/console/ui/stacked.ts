// Columns of stacked parts, as a chart of use per day has them. Laws: parts of a column never overlap and fill it; the tallest
// column has the whole height; what is there is seen, at one unit of height at least.

export interface StackedColumn {
  readonly name: string
  /** By the name of the part; not negative. */
  readonly parts: Readonly<Record<string, number>>
}

export interface Bar {
  readonly column: number
  readonly part: string
  readonly y: number
  readonly height: number
}

/** The bars, from the bottom up in the order of `parts`, in a space of this height whose top is 0. */
export function stackedBars(columns: readonly StackedColumn[], parts: readonly string[], height: number): Bar[] {
  const sums = columns.map((column) => parts.reduce((sum, part) => sum + (column.parts[part] ?? 0), 0))
  const most = Math.max(...sums, 0)
  if (most === 0) return []
  return columns.flatMap(({ parts: values }, column) => {
    let below = 0
    return parts.flatMap((part) => {
      const value = values[part] ?? 0
      if (value <= 0) return []
      const size = Math.min(Math.max((value / most) * height, 1), height - below)
      below += size
      return size <= 0 ? [] : [{ column, part, y: height - below, height: size }]
    })
  })
}
