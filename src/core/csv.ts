// Rows as CSV (RFC 4180). Law: a cell that a spreadsheet would run is text: one apostrophe goes before it.

/** What spreadsheets take for a formula; a number with its sign is none. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(\.\d+)?$/

const cellOf = (value: string) => {
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** With a line of names first. */
export function csvText(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')
}
