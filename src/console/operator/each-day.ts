// Days of a report, those without anything too, so that a chart's columns are days.

import { DAY_MS } from '../../core/time.ts'
import type { StackedColumn } from '../ui/stacked.ts'

/** Beyond these a column is no column. */
const DAYS_MAX = 400

interface Part {
  readonly date: string
  readonly part: string
  /** Exact decimal text; a chart needs no more than a number's worth of it. */
  readonly credits: string
}

/** A column for each UTC day from `from` to `to`, both included. */
export function eachDay(from: string, to: string, parts: readonly Part[]): StackedColumn[] {
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

export const partsOf = (parts: readonly Part[]): string[] => [...new Set(parts.map(({ part }) => part))].sort()
