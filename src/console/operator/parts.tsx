// What several of the operator's pages have: cells of tables, lists with filters, what the page offers to whom. It hides what would be
// refused, and is no protection: the gateway asks by itself.

import type { ComponentChildren } from 'preact'
import { params, urlWith } from '../address.dom.ts'
import { type PagedQuery, usePagedQuery, useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { Filters, type FormField } from '../ui/form.tsx'
import { groupedText, hourText, timeText } from '../ui/format.ts'
import { ErrorNote } from '../ui/parts.tsx'
import { type Column, Table, type TableProps } from '../ui/table.tsx'

const NO_PARAMS = new URLSearchParams()

export const pageUrl = (page: string, more: Readonly<Record<string, string>> = {}) =>
  urlWith({ page, ...more }, NO_PARAMS)

export const accountColumn = <Row extends { readonly account: string | null }>(): Column<Row> => ({
  name: 'Account',
  text: ({ account }) => account ?? '',
  render: ({ account }) => account && <Link to={pageUrl('account', { id: account })}>{account}</Link>,
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
  render: (row) => groupedText(row[field] ?? absent),
})

export function usePlanNames(): readonly string[] {
  const plans = useQuery<Responses['listPlans']>(() => '/admin/plans')
  return plans.value.value?.plans.map(({ name }) => name) ?? []
}

/** Rows of `/admin/<path>`, narrowed by those parameters of the page that these fields set. */
export function useAdminList<Row>(
  list: string,
  cursor: 'before' | 'after',
  path: string,
  fields: readonly FormField[],
  more: () => Readonly<Record<string, string>> = () => ({}),
): PagedQuery<Row> {
  return usePagedQuery<Row>(list, cursor, () => `/admin/${path}?${filterQuery(fields, more())}`)
}

/** Those parameters of the page that these fields set. */
export function filterQuery(
  fields: readonly FormField[],
  more: Readonly<Record<string, string>> = {},
): URLSearchParams {
  const query = new URLSearchParams(more)
  for (const { name } of fields) {
    const value = params.value.get(name)
    if (value) query.set(name, value)
  }
  return query
}

interface RowsProps<Row> extends Omit<TableProps<Row>, 'rows' | 'more' | 'isWhole'> {
  readonly paged: PagedQuery<Row>
}

/** Rows of a list, or why they are not there. */
export function Rows<Row>({ paged, ...table }: RowsProps<Row>) {
  return (
    <>
      <ErrorNote trouble={paged.error.value} again={paged.reload} />
      {paged.rows.value && <Table {...table} rows={paged.rows.value} more={paged.more} />}
    </>
  )
}

interface ListPageProps<Row> extends RowsProps<Row> {
  readonly fields: readonly FormField[]
  readonly children?: ComponentChildren
}

export function ListPage<Row>({ fields, children, ...rows }: ListPageProps<Row>) {
  return (
    <>
      <h1>{rows.caption}</h1>
      {children}
      {fields.length > 0 && <Filters fields={fields} />}
      <Rows {...rows} />
    </>
  )
}
