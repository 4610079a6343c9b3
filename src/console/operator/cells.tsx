// Cells that several of the operator's tables have.

import { addressWith } from '../address.dom.ts'
import { Link } from '../shell.tsx'
import { groupedText } from '../ui/amounts.ts'
import type { Column } from '../ui/table.tsx'
import { hourText, timeText } from '../ui/when.ts'

const NOWHERE = new URLSearchParams()

export const pageAddress = (page: string, more: Readonly<Record<string, string>> = {}) =>
  addressWith({ page, ...more }, NOWHERE)

export const accountColumn = <Row extends { readonly account: string | null }>(): Column<Row> => ({
  name: 'Account',
  text: ({ account }) => account ?? '',
  draw: ({ account }) => account && <Link to={pageAddress('account', { id: account })}>{account}</Link>,
})

/** `name` of a field in Unix ms, or null. */
export const timeColumn = <Name extends string>(
  name: string,
  field: Name,
  never = '',
): Column<{ readonly [field in Name]: number | null }> => ({
  name: `${name} (UTC)`,
  text: (row) => (row[field] === null ? never : timeText(row[field])),
})

/** Usage is kept by the hour. */
export const lastUsedColumn = (): Column<{ readonly last_used: number | null }> => ({
  name: 'Last used (UTC)',
  text: ({ last_used: used }) => (used === null ? 'never' : hourText(used)),
})

/** `field` is an exact decimal text, or null. */
export const creditsColumn = <Name extends string>(
  name: string,
  field: Name,
  absent = '?',
): Column<{ readonly [field in Name]: string | null }> => ({
  name,
  isNumber: true,
  text: (row) => row[field] ?? '',
  draw: (row) => groupedText(row[field] ?? absent),
})
