// Formats rows as CSV (RFC 4180). Invariant: a cell that a spreadsheet would run as a formula gets a leading
// apostrophe.

/** Matches the first character of a formula. Signed numbers are not treated as formulas. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(\.\d+)?$/

const cellOf = (value: string) => {
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the CSV text. Its first line contains the column names. */
export function csvText(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')
}
