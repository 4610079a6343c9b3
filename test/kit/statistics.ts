// Medians, percentiles and Markdown tables of measurements.

/** Percentile `p` of `sorted` (ascending); undefined if it is empty. */
export function percentile(sorted: ArrayLike<number>, p: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]
}

/** Median of a non-empty list, which ignores a single outlier. */
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

/** Spread of the first `count` samples; NaN without samples. */
export function spreadOf(samples: Float64Array, count: number): Spread {
  const sorted = samples.slice(0, Math.min(count, samples.length)).sort()
  if (sorted.length === 0) return { p50: Number.NaN, p90: Number.NaN, p99: Number.NaN, max: Number.NaN }
  const at = (p: number) => percentile(sorted, p)!
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1)! }
}

/** A Markdown table with aligned columns. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const text = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [text(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(text)].join('\n')
}
