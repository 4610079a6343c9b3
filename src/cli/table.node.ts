// Prints responses as tables and name-value lists. Invariants: columns are aligned by displayed width; cells never send
// control characters to the terminal.

import stringWidth from 'fast-string-width'
import { visible } from '../core/visible.ts'

/** Response fields that hold Unix ms. */
const TIMES = new Set(['at', 'created', 'expires', 'revoked', 'last_used', 'since', 'until', 'next', 'paid', 'granted'])

export function table(rows: readonly (readonly unknown[])[], right: ReadonlySet<number> = new Set()): string {
  const cells = rows.map((row) => row.map((cell) => visible(String(cell ?? '-'))))
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))))
  return cells
    .map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column] ?? 0, right.has(column)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A table with a header line; columns of numbers are right-aligned. */
export function headedTable([names = [], ...rows]: readonly (readonly unknown[])[]): string {
  const isNumber = (cell: unknown) => /^-?\d[\d,.]*$/.test(String(cell))
  const isGap = (cell: unknown) => cell === '' || cell === '-' || cell === null || cell === undefined
  const right = names.flatMap((_, column) => {
    const cells = rows.map((row) => row[column]).filter((cell) => !isGap(cell))
    return cells.length > 0 && cells.every(isNumber) ? [column] : []
  })
  return table([names, ...rows], new Set(right))
}

/** Names and values of a response; lists of objects follow as tables. */
export function details(answer: object): string {
  // Warnings were already printed to standard error.
  const fields = Object.entries(answer).filter(([name]) => name !== 'warnings')
  const lists = fields.filter(([, value]) => isObjects(value)) as [string, object[]][]
  const values = fields.filter(([, value]) => !isObjects(value)).map(([name, value]) => [name, valueText(name, value)])
  const tables = lists.map(([name, rows]) => `\n${name}\n${objects(rows)}`)
  return [table(values), ...tables].join('\n')
}

/** Objects of one kind side by side, one column each. */
export function sideBySide(each: readonly object[]): string {
  const names = Object.keys(each[0] ?? {})
  return table(
    names.map((name) => [name, ...each.map((one) => valueText(name, (one as Record<string, unknown>)[name]))]),
  )
}

function objects(rows: readonly object[]): string {
  const names = Object.keys(rows[0] ?? {})
  return headedTable([
    names,
    ...rows.map((row) => names.map((name) => valueText(name, (row as Record<string, unknown>)[name]))),
  ])
}

function isObjects(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'object' && one !== null)
}

function valueText(name: string, value: unknown): string {
  if (typeof value === 'number' && TIMES.has(name)) return timeText(value)
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.join(', ') || '-'
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([part, inner]) => `${part} ${valueText(part, inner)}`)
    .join(', ')
}

function padded(cell: string, width: number, isRight: boolean): string {
  const room = ' '.repeat(Math.max(0, width - stringWidth(cell)))
  return isRight ? room + cell : cell + room
}

/** The largest time of a `Date`; keys may expire later. */
const LAST_MS = 8.64e15

/** UTC to the minute, in the form that `--expires` accepts. */
export function timeText(ms: number): string {
  return secondText(ms).replace(/:\d\dZ$/, 'Z')
}

/** UTC to the second. */
export function secondText(ms: number): string {
  return new Date(Math.max(-LAST_MS, Math.min(ms, LAST_MS))).toISOString().replace(/\.\d+Z$/, 'Z')
}
