// Medians and percentiles of what was measured, and Markdown tables of them.

/** The value below which the share `p` of `sorted` (ascending) lies; undefined where it is empty. */
export function percentile(sorted: ArrayLike<number>, p: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]
}

/** The middle value of a list that is not empty: one odd round does not count. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Latencies of one round in ms. */
export interface Spread {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** The spread of the first `count` samples; NaN where there are none. */
export function spreadOf(samples: Float64Array, count: number): Spread {
  const sorted = samples.slice(0, Math.min(count, samples.length)).sort()
  if (sorted.length === 0) return { p50: Number.NaN, p90: Number.NaN, p99: Number.NaN, max: Number.NaN }
  const at = (p: number) => percentile(sorted, p)!
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1)! }
}

/** A Markdown table with columns of one width. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const text = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [text(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(text)].join('\n')
}
