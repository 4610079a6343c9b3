// Rows as CSV (RFC 4180). Invariant: cells that a spreadsheet would run as a formula are prefixed with an apostrophe.

/** Formula prefixes; signed numbers are excluded. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(\.\d+)?$/

const cellOf = (value: string) => {
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The first line contains the column names. */
export function csvText(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')
}
