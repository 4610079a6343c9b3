// Formats figures as a Markdown table for docs/internals/benchmarks.md, with one line per figure.

import { markdown } from '../kit/statistics.ts'
import { EXCHANGE_BLOCKS_PER_SECOND } from './blocks.ts'

export interface Line {
  readonly what: string
  readonly bare?: string
  readonly weir: string
  readonly ratio?: string
  /** CPU of workerd for each operation, the baseline's and Weir's. */
  readonly cpu?: string
  /** Cores that the load process kept busy, under the baseline and under Weir. */
  readonly load?: string
  readonly goal?: string
  readonly met?: boolean
}

/** Two figures of one unit; `least` or `most` bounds their ratio, and `base` says what the first is of. */
export function pairLine(
  what: string,
  { bare, weir, ratio }: { readonly bare: number; readonly weir: number; readonly ratio: number },
  unit: (value: number) => string,
  { least, most, base }: { readonly least?: number; readonly most?: number; readonly base?: string } = {},
): Line {
  return {
    what,
    bare: base === undefined ? unit(bare) : `${unit(bare)} (${base})`,
    weir: unit(weir),
    ratio: times(ratio),
    ...(least !== undefined && { goal: `≥ ${times(least)}`, met: ratio >= least }),
    ...(most !== undefined && { goal: `≤ ${times(most)}`, met: ratio <= most }),
  }
}

/** Blocks a second, which must be `goal` times those of the exchange. */
export function exchangeLine(what: string, perSecond: number, goal: number, more = ''): Line {
  const ratio = perSecond / EXCHANGE_BLOCKS_PER_SECOND
  return {
    what,
    bare: `${EXCHANGE_BLOCKS_PER_SECOND} blocks/s (the exchange)`,
    weir: `${whole(perSecond)} blocks/s${more}`,
    ratio: times(ratio),
    goal: `≥ ${goal}×`,
    met: ratio >= goal,
  }
}

/** The Markdown table of all lines; a missed goal says so in its last column. */
export function tableOf(lines: readonly Line[]): string {
  const head = ['what', 'bare', 'Weir', 'ratio', 'CPU per operation', 'load, cores', 'goal']
  const rows = lines.map(({ what, bare = '', weir, ratio = '', cpu = '', load = '', goal = '', met }) => [
    what,
    bare,
    weir,
    ratio,
    cpu,
    load,
    met === false ? `${goal} (missed)` : goal,
  ])
  return markdown(head, rows)
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
