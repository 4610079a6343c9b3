// A table of rows, with its CSV, its words where it is empty, and a way to more of them. Laws: everything is drawn as text;
// of many rows a page is drawn, so that ten thousand take no longer than fifty; the CSV has all of them, and numbers in it
// as programs read them.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { csvText } from '../../core/csv.ts'
import { type CreditOrder, creditOrderStateText, groupedText, plainText, priceText, timeText } from './format.ts'
import { Button } from './frame.tsx'

export interface Column<Row> {
  readonly name: string
  /** What a cell holds, in CSV and where nothing else is drawn; left out: buttons. */
  readonly text?: (row: Row) => string
  readonly render?: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
}

/** A number as it is, or words in its place. */
export const numberColumn = <Row,>(
  name: string,
  of: (row: Row) => string | number | null | undefined,
): Column<Row> => ({ name, isNumber: true, text: (row) => String(of(row) ?? '') })

/** An amount, its digits in groups. */
export const amountColumn = <Row,>(name: string, of: (row: Row) => string | number): Column<Row> =>
  numberColumn(name, (row) => groupedText(String(of(row))))

export interface TableProps<Row> {
  /** What the rows are, for who does not see them. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Where cells hold what has a state of its own; left out: the place of the row. */
  readonly rowKey?: (row: Row) => string
  readonly empty: ComponentChildren
  /** Of the file, without its ending; left out: no file. */
  readonly csv?: string
  readonly more?: (() => void) | null
  /** All rows are drawn, as on paper. */
  readonly isUnpaged?: boolean
}

const PAGE_ROWS = 50

export function Table<Row>({ caption, columns, rows, rowKey, empty, csv, more, isUnpaged = false }: TableProps<Row>) {
  const asked = useSignal(0)
  const last = isUnpaged ? 0 : Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1)
  const page = Math.min(asked.value, last)
  const shown = isUnpaged ? rows : rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS)
  const turn = (by: number) => {
    asked.value = page + by
  }
  if (rows.length === 0) return <div class="empty">{empty}</div>
  const save = () => {
    const kept = columns.flatMap(({ name, text, isNumber = false }) => (text ? [{ name, text, isNumber }] : []))
    const names = kept.map(({ name }) => name)
    const lines = rows.map((row) => kept.map(({ text, isNumber }) => (isNumber ? plainText(text(row)) : text(row))))
    downloadText(`${csv}.csv`, 'text/csv', csvText(names, lines))
  }
  const classOf = ({ isNumber }: Column<Row>) => (isNumber ? 'number' : '')
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls a wide table with the keys. */}
      <section class="scroll" tabIndex={0} aria-label={caption}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" class={classOf(column)} key={column.name}>
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              <tr key={rowKey?.(row) ?? at}>
                {columns.map((column) => (
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
            <Button text="Previous" disabled={page === 0} onClick={() => turn(-1)} />
            <span role="status">
              {page * PAGE_ROWS + 1}–{page * PAGE_ROWS + shown.length} of {rows.length}
            </span>
            <Button text="Next" disabled={page === last} onClick={() => turn(1)} />
          </>
        )}
        {csv && (
          <Button
            text={`CSV of ${rows.length === 1 ? 'this row' : `these ${rows.length} rows`}`}
            class="plain"
            onClick={save}
          />
        )}
        {more && <Button text="More" onClick={more} />}
      </p>
    </div>
  )
}

/** Asks the browser to save it under this name. */
function downloadText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has taken it when the click is over.
  setTimeout(() => URL.revokeObjectURL(url))
}

/** `render`: of the order's number. */
export function creditOrderColumns({ render }: Pick<Column<CreditOrder>, 'render'>): readonly Column<CreditOrder>[] {
  return [
    { name: 'Order', text: ({ number }) => number, ...(render && { render }) },
    { name: 'Made, UTC', text: ({ created }) => timeText(created) },
    amountColumn('Credits', ({ credits }) => credits),
    numberColumn('Amount', ({ amount, currency }) => priceText(amount, currency)),
    { name: 'State', text: creditOrderStateText },
  ]
}
