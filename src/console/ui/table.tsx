// A table with CSV export and paging. Invariants: cells are rendered as text, never as HTML; only one page of rows is
// rendered; the CSV has all rows, with plain numbers.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { csvText } from '../../core/csv.ts'
import { groupedText, plainText } from './format.ts'
import { Button } from './frame.tsx'
import { TABLE } from './strings.ts'

export interface Column<Row> {
  readonly name: string
  /** Text of a cell, on the page and in the CSV. Omitted if the column has only buttons. */
  readonly text?: (row: Row) => string
  readonly render?: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
  /** Left out of narrow screens. */
  readonly isMinor?: boolean
  /** In the CSV only. */
  readonly isHidden?: boolean
}

/** These columns, all left out of narrow screens. */
export const minorColumns = <Row,>(...columns: readonly Column<Row>[]): readonly Column<Row>[] =>
  columns.map((column) => ({ ...column, isMinor: true }))

/** A column whose cells have a second, soft line. */
export const linesColumn = <Row,>(name: string, linesOf: (row: Row) => readonly string[]): Column<Row> => ({
  name,
  text: (row) => linesOf(row).filter(Boolean).join(', '),
  render: (row) => {
    const [first, second] = linesOf(row)
    return (
      <>
        {first}
        {second && <div class="soft">{second}</div>}
      </>
    )
  },
})

/** A right-aligned column. */
export const numberColumn = <Row,>(
  name: string,
  of: (row: Row) => string | number | null | undefined,
): Column<Row> => ({ name, isNumber: true, text: (row) => String(of(row) ?? '') })

/** A right-aligned column with thousands separators. */
export const amountColumn = <Row,>(name: string, of: (row: Row) => string | number | null | undefined): Column<Row> =>
  numberColumn(name, (row) => groupedText(String(of(row) ?? '')))

export interface TableProps<Row> {
  /** Shown to screen readers only. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Needed if cells have state. Default: the index of the row. */
  readonly rowKey?: (row: Row) => string
  readonly empty: ComponentChildren
  /** File name without extension. If omitted, there is no export. */
  readonly csv?: string
  readonly more?: (() => void) | null
  /** Renders all rows, for print. */
  readonly isUnpaged?: boolean
}

const PAGE_ROWS = 50

export function Table<Row>({ caption, columns, rows, rowKey, empty, csv, more, isUnpaged = false }: TableProps<Row>) {
  const chosenPage = useSignal(0)
  const last = isUnpaged ? 0 : Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1)
  const page = Math.min(chosenPage.value, last)
  const shown = isUnpaged ? rows : rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS)
  const turn = (by: number) => {
    chosenPage.value = page + by
  }
  if (rows.length === 0) return <div class="empty">{empty}</div>
  const save = () => {
    const exported = columns.flatMap(({ name, text, isNumber = false }) => (text ? [{ name, text, isNumber }] : []))
    const names = exported.map(({ name }) => name)
    const lines = rows.map((row) => exported.map(({ text, isNumber }) => (isNumber ? plainText(text(row)) : text(row))))
    downloadText(`${csv}.csv`, 'text/csv', csvText(names, lines))
  }
  const visible = columns.filter(({ isHidden }) => !isHidden)
  const classOf = ({ isNumber, isMinor, text }: Column<Row>) =>
    [isNumber && 'number', isMinor && 'minor', text === undefined && 'acts'].filter(Boolean).join(' ')
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lets keyboard users scroll a wide table. */}
      <section class="scroll" tabIndex={0} aria-label={caption}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              {visible.map((column) => (
                <th scope="col" class={classOf(column)} key={column.name}>
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              <tr key={rowKey?.(row) ?? at}>
                {visible.map((column) => (
                  <td class={classOf(column)} key={column.name}>
                    {column.render ? column.render(row) : column.text?.(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="beside">
        {last > 0 && (
          <>
            <Button text={TABLE.previous} disabled={page === 0} onClick={() => turn(-1)} />
            <span role="status">
              {TABLE.rows(page * PAGE_ROWS + 1, page * PAGE_ROWS + shown.length, groupedText(String(rows.length)))}
            </span>
            <Button text={TABLE.next} disabled={page === last} onClick={() => turn(1)} />
          </>
        )}
        {csv && (
          <Button text={TABLE.exportCsv} class="plain" aria-label={`${TABLE.exportCsv}: ${caption}`} onClick={save} />
        )}
        {more && <Button text={TABLE.more} onClick={more} />}
      </p>
    </div>
  )
}

/** Starts a download of this text. */
function downloadText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The download holds the blob once the click handler returns.
  setTimeout(() => URL.revokeObjectURL(url))
}
