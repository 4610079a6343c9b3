// Rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula gets a leading apostrophe.

const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(\.\d+)?$/

export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((value) => {
    const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${quoted.join(',')}\r\n`
}
