// Layout of a stacked bar chart. Invariants: the parts of a column never overlap and leave no space between them; the
// tallest column fills the height, unless `top` leaves room above it; a part above zero is at least one unit high.

import { DAY_MS } from '../../core/time.ts'

export interface StackedColumn {
  readonly name: string
  /** Values by part name, never negative. */
  readonly parts: Readonly<Record<string, number>>
}

export interface Bar {
  readonly column: number
  readonly part: string
  readonly y: number
  readonly height: number
}

export const sumOf = ({ parts: values }: StackedColumn, parts: readonly string[]): number =>
  parts.reduce((sum, part) => sum + (values[part] ?? 0), 0)

const FEWEST_COLUMNS = 7

/** Without the empty columns before the first one that is filled, so that a new account sees its days. */
export function fromFirstUse(columns: readonly StackedColumn[], parts: readonly string[]): readonly StackedColumn[] {
  const first = columns.findIndex((column) => sumOf(column, parts) > 0)
  return columns.slice(Math.max(0, Math.min(first, columns.length - FEWEST_COLUMNS)))
}

/** Bars from the bottom up in the order of `parts`; y is 0 at the top. `top`: the value at the full height. */
export function stackedBars(
  columns: readonly StackedColumn[],
  parts: readonly string[],
  height: number,
  top = 0,
): Bar[] {
  const max = Math.max(...columns.map((column) => sumOf(column, parts)), top)
  if (max === 0) return []
  return columns.flatMap(({ parts: values }, column) => {
    let below = 0
    return parts.flatMap((part) => {
      const value = values[part] ?? 0
      if (value <= 0) return []
      const size = Math.min(Math.max((value / max) * height, 1), height - below)
      below += size
      return size <= 0 ? [] : [{ column, part, y: height - below, height: size }]
    })
  })
}

/** Narrower columns would be invisible. */
const DAYS_MAX = 400

interface DailyPart {
  readonly date: string
  readonly part: string
  /** Exact decimal string; a float is precise enough for a chart. */
  readonly credits: string
}

/** One column per UTC day from `from` to `to`, inclusive. */
export function columnsByDay(from: string, to: string, parts: readonly DailyPart[]): StackedColumn[] {
  const sums = new Map<string, Record<string, number>>()
  for (const { date, part, credits } of parts) {
    const day = sums.get(date) ?? {}
    day[part] = (day[part] ?? 0) + Number(credits)
    sums.set(date, day)
  }
  const first = Date.parse(from)
  const count = Math.min(Math.round((Date.parse(to) - first) / DAY_MS) + 1, DAYS_MAX)
  return Array.from({ length: Math.max(count, 0) }, (_, i) => {
    const name = new Date(first + i * DAY_MS).toISOString().slice(0, 10)
    return { name, parts: sums.get(name) ?? {} }
  })
}

export const partNames = (parts: readonly DailyPart[]): string[] => [...new Set(parts.map(({ part }) => part))].sort()
