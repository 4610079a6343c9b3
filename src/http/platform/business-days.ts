// Sums of a business by day, from what D1 tells of each. Laws: a day is the sum of its products; totals are the sums of the
// days; money is whole millionths of a dollar, rounded down.

import type { MicroCredits } from '../../core/amount.ts'

interface Sums {
  readonly granted: MicroCredits
  readonly spent: MicroCredits
  readonly calls: number
  readonly minutes: number
  readonly rows: number
  readonly refusals: number
}

export interface Day extends Sums {
  /** Unix ms of its start. */
  readonly day: number
  /** What was spent. */
  readonly byProduct: Readonly<Record<string, MicroCredits>>
}

interface Used {
  readonly day: number
  readonly product: string
  readonly count: number
  readonly micro: MicroCredits
}

const NOTHING: Sums = { granted: 0, spent: 0, calls: 0, minutes: 0, rows: 0, refusals: 0 }
/** What a product counts: calls, unless it is here. */
const COUNTED: Readonly<Record<string, 'minutes' | 'rows'>> = { stream: 'minutes', pipeline: 'rows' }

/** Oldest day first; codes with the most first. */
export function businessDays(
  used: readonly Used[],
  granted: readonly { readonly day: number; readonly micro: MicroCredits }[],
  refused: readonly { readonly day: number; readonly code: string; readonly count: number }[],
): {
  readonly rows: readonly Day[]
  readonly totals: Sums
  readonly codes: readonly { readonly code: string; readonly count: number }[]
} {
  const days = new Map<number, Day>()
  const add = (day: number, change: (row: Day) => Partial<Day>) => {
    const row = days.get(day) ?? { day, ...NOTHING, byProduct: {} }
    days.set(day, { ...row, ...change(row) })
  }
  for (const { day, product, count, micro } of used) {
    const counted = COUNTED[product] ?? 'calls'
    add(day, (row) => ({
      spent: row.spent + micro,
      [counted]: row[counted] + count,
      byProduct: { ...row.byProduct, [product]: (row.byProduct[product] ?? 0) + micro },
    }))
  }
  for (const { day, micro } of granted) add(day, (row) => ({ granted: row.granted + micro }))
  const codes = new Map<string, number>()
  for (const { day, code, count } of refused) {
    add(day, (row) => ({ refusals: row.refusals + count }))
    codes.set(code, (codes.get(code) ?? 0) + count)
  }
  const rows = [...days.values()].sort((a, b) => a.day - b.day)
  const sumOf = (name: keyof Sums) => rows.reduce((sum, row) => sum + row[name], 0)
  return {
    rows,
    totals: {
      granted: sumOf('granted'),
      spent: sumOf('spent'),
      calls: sumOf('calls'),
      minutes: sumOf('minutes'),
      rows: sumOf('rows'),
      refusals: sumOf('refusals'),
    },
    codes: [...codes].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
  }
}

/** Millionths of a dollar for so many credits, where a million of them cost `millionMicroUsd`. */
export const soldMicroUsd = (micro: MicroCredits, millionMicroUsd: number): bigint =>
  (BigInt(micro) * BigInt(millionMicroUsd)) / 1_000_000_000_000n

/** Dollars with cents at least. */
export function dollarsText(microUsd: bigint): string {
  const cents = String(microUsd % 1_000_000n)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${microUsd / 1_000_000n}.${cents}`
}
