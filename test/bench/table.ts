// One line per figure, as a Markdown table for docs/benchmarks.md.

export interface Line {
  readonly what: string
  readonly bare: string
  readonly weir: string
  readonly ratio: string
  /** CPU of workerd for each operation, the baseline's and Weir's. */
  readonly cpu?: string
  /** Cores that the load process kept busy, under the baseline and under Weir. */
  readonly load?: string
  readonly goal: string
  /** Null where a figure has no goal of its own. */
  readonly met: boolean | null
}

/** The Markdown table of all lines; a missed goal says so in its last column. */
export function tableOf(lines: readonly Line[]): string {
  const head = ['what', 'bare', 'Weir', 'ratio', 'CPU per operation', 'load, cores', 'goal']
  const rows = lines.map(({ what, bare, weir, ratio, cpu = '', load = '', goal, met }) => [
    what,
    bare,
    weir,
    ratio,
    cpu,
    load,
    met === false ? `${goal} (missed)` : goal,
  ])
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const text = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [text(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(text)].join('\n')
}

/** Digits with a space between thousands, such as `12 345`. */
export function whole(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ')
}

/** `0.87×` and the like. */
export function times(value: number): string {
  return `${value.toFixed(value >= 10 ? 1 : 2)}×`
}

/** Milliseconds with as many digits as they can bear. */
export function ms(value: number): string {
  return `${value.toFixed(value >= 10 ? 1 : 2)} ms`
}

/** Microseconds. */
export function us(value: number): string {
  return `${value.toFixed(value >= 10 ? 0 : 1)} µs`
}
