// Shared parts of the operator pages: table columns and lists with filters. Pages hide what a role may not do; the gateway
// enforces it.

import type { ComponentChildren } from 'preact'
import { pageUrl, params } from '../address.dom.ts'
import { type PagedQuery, usePagedQuery, useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { Filters, type FormField } from '../ui/form.tsx'
import { groupedText, hourText, timeText } from '../ui/format.ts'
import { ErrorNote } from '../ui/parts.tsx'
import { type Column, Table, type TableProps } from '../ui/table.tsx'
import * as strings from './strings.ts'

export const accountColumn = <Row extends { readonly account: string | null }>(): Column<Row> => ({
  name: strings.commonAccount,
  text: ({ account }) => account ?? '',
  render: ({ account }) => account && <Link to={pageUrl('account', { id: account })}>{account}</Link>,
})

/** `field` holds Unix ms or null. */
export const timeColumn = <Name extends string>(
  name: string,
  field: Name,
  never = '',
): Column<{ readonly [field in Name]: number | null }> => ({
  name: strings.commonUtc(name),
  text: (row) => (row[field] === null ? never : timeText(row[field])),
})

/** Usage is stored per hour, and up to 15 minutes late. */
export const lastUsedColumn = (): Column<{ readonly last_used: number | null }> => ({
  name: strings.commonLastUsed,
  text: ({ last_used: used }) => (used === null ? strings.commonNoUse : hourText(used)),
})

/** `field` holds an exact decimal string or null. */
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

/** Rows of `/admin/<path>`, filtered by the URL parameters of these fields. */
export function useAdminList<Row>(
  list: string,
  cursor: 'before' | 'after',
  path: string,
  fields: readonly FormField[],
  more: () => Readonly<Record<string, string>> = () => ({}),
): PagedQuery<Row> {
  return usePagedQuery<Row>(list, cursor, () => `/admin/${path}?${filterQuery(fields, more())}`)
}

/** The URL parameters of these fields. */
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

interface RowsProps<Row> extends Omit<TableProps<Row>, 'rows' | 'more' | 'isUnpaged'> {
  readonly paged: PagedQuery<Row>
}

/** The table of a list, or its error. */
export function Rows<Row>({ paged, ...table }: RowsProps<Row>) {
  return (
    <>
      <ErrorNote error={paged.error.value} onRetry={paged.reload} />
      {paged.rows.value && <Table {...table} rows={paged.rows.value} more={paged.more} />}
    </>
  )
}

interface ListPageProps<Row> extends RowsProps<Row> {
  readonly fields: readonly FormField[]
  /** Beside the heading. */
  readonly action?: ComponentChildren
  readonly children?: ComponentChildren
}

export function ListPage<Row>({ fields, action, children, ...rows }: ListPageProps<Row>) {
  return (
    <>
      <div class="title">
        <h1>{rows.caption}</h1>
        {action}
      </div>
      {children}
      {fields.length > 0 && <Filters fields={fields} />}
      <Rows {...rows} />
    </>
  )
}
