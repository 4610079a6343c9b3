// Answers as people read them: columns, and names with values. Laws: columns are as wide as what is seen; nothing of a
// cell reaches the terminal as a control character.

import stringWidth from 'fast-string-width'
import { visible } from '../core/visible.ts'

/** Fields of answers that are moments. */
const TIMES = new Set(['at', 'created', 'expires', 'revoked', 'last_used', 'since', 'until', 'next', 'paid', 'granted'])

/** Rows as lines. */
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

/** The same below a line of names, where columns of numbers stand to the right. */
export function headedTable([names = [], ...rows]: readonly (readonly unknown[])[]): string {
  const isNumber = (cell: unknown) => /^-?\d[\d,.]*$/.test(String(cell))
  const isGap = (cell: unknown) => cell === '' || cell === '-' || cell === null || cell === undefined
  const right = names.flatMap((_, column) => {
    const cells = rows.map((row) => row[column]).filter((cell) => !isGap(cell))
    return cells.length > 0 && cells.every(isNumber) ? [column] : []
  })
  return table([names, ...rows], new Set(right))
}

/** Names and values of an answer; lists of objects are tables of their own below. */
export function details(answer: object): string {
  // Warnings were said already, on standard error.
  const fields = Object.entries(answer).filter(([name]) => name !== 'warnings')
  const lists = fields.filter(([, value]) => isObjects(value)) as [string, object[]][]
  const values = fields.filter(([, value]) => !isObjects(value)).map(([name, value]) => [name, valueText(name, value)])
  const tables = lists.map(([name, rows]) => `\n${name}\n${objects(rows)}`)
  return [table(values), ...tables].join('\n')
}

/** Objects of one kind, a column for each. Their names are the first line. */
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

/** What a `Date` can hold; a key may be told to expire later. */
const LAST_MS = 8.64e15

/** To the minute, in UTC, as `--expires` takes it. */
export function timeText(ms: number): string {
  return secondText(ms).replace(/:\d\dZ$/, 'Z')
}

/** To the second, in UTC. */
export function secondText(ms: number): string {
  return new Date(Math.max(-LAST_MS, Math.min(ms, LAST_MS))).toISOString().replace(/\.\d+Z$/, 'Z')
}
