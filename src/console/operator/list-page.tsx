// A page that is one list of the operator's: its filters, its rows, a way to more of them.

import type { ComponentChildren } from 'preact'
import { params } from '../address.dom.ts'
import { type Paged, usePaged } from '../paged.dom.ts'
import { type FilterField, Filters } from '../ui/filters.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'

/** Rows of `/admin/<path>`, narrowed by those parameters of the page that these fields set. */
export function useList<Row>(
  list: string,
  cursor: 'before' | 'after',
  path: string,
  fields: readonly FilterField[],
  more: () => Readonly<Record<string, string>> = () => ({}),
): Paged<Row> {
  return usePaged<Row>(list, cursor, () => {
    const query = new URLSearchParams(more())
    for (const { name } of fields) if (params.value.get(name)) query.set(name, params.value.get(name)!)
    return `/admin/${path}?${query}`
  })
}

interface RowsProps<Row> {
  readonly caption: string
  readonly paged: Paged<Row>
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  readonly empty: ComponentChildren
  readonly csv: string
}

/** Rows of a list, or why they are not there. */
export function Rows<Row>({ caption, paged, columns, rowKey, empty, csv }: RowsProps<Row>) {
  return (
    <>
      <TroubleNote trouble={paged.trouble.value} again={paged.reload} />
      {paged.rows.value && (
        <Table {...{ caption, columns, rowKey, empty, csv }} rows={paged.rows.value} more={paged.more} />
      )}
    </>
  )
}

interface ListPageProps<Row> extends RowsProps<Row> {
  readonly fields: readonly FilterField[]
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
