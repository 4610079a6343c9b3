// Tables as text that spreadsheets read (RFC 4180). Law: no cell is run as a formula, whoever wrote it.

/** What spreadsheets take for the beginning of a formula; an amount with a sign is none. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^-?\d+(?:\.\d+)?$/

/** Lines end as the format has it; a cell without a value is empty. */
export function csvText(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

function cell(value: string | number | null): string {
  const text = String(value ?? '')
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
