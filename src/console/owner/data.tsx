// The archive: a calendar of its coverage, what an export costs before it is ordered, and its files with checksums and links.
// Invariant: nothing that costs credits is requested before the owner sees the price and agrees.

import { useSignal } from '@preact/signals'
import { navigate, urlWith } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { type Query, useQuery } from '../queries.dom.ts'
import { type RequestError, request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Dialog } from '../ui/dialog.tsx'
import { dayText, groupedText, sizeText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, QueryView } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { refreshAll } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import { Coverage } from './data-archive.tsx'
import { rangeText, useExportRange } from './data-range.dom.ts'
import * as dataStrings from './data-strings.ts'
import * as strings from './strings.ts'
import './data.css'

type Cost = Responses['historyCost']
type Files = Responses['historyFiles']

export function DataSection() {
  const status = useQuery<{ readonly chain: string }>(() => '/status')
  return (
    <>
      <h1>{strings.pagesData}</h1>
      <QueryView query={status} height={560}>
        {({ chain }) => (
          <>
            <Coverage chain={chain} path={`/v1/${encodeURIComponent(chain)}/history/`} />
            <Exports path={`/v1/${encodeURIComponent(chain)}/history/`} />
          </>
        )}
      </QueryView>
    </>
  )
}

interface RangeProps {
  readonly path: string
}

/** The range is in the address. The default is today. */
function Exports({ path }: RangeProps) {
  const { from, to, hour, bounds } = useExportRange()
  const range = () => `from=${bounds().fromMs}&to=${bounds().toMs}`
  const cost = useQuery<Cost>(() => `${path}cost?${range()}`)
  const ordered = useSignal<Cost['by_product'][number] | null>(null)
  const files = useSignal<{ readonly product: string; readonly page: Files; readonly query: string } | null>(null)
  const choose = (name: 'from' | 'to') => (event: { readonly currentTarget: HTMLInputElement }) => {
    files.value = null
    navigate(urlWith({ [name]: event.currentTarget.value, hour: null }), 'replace')
  }
  const order = (product: string) => {
    const query = `${range()}&products=${product}&limit=1000`
    return requestChange<Files>('GET', `${path}files?${query}`, undefined, (page) => {
      files.value = { product, page, query }
      ordered.value = null
      refreshAll()
    })
  }
  const today = dayText(nowMs())
  return (
    <section class="card" id="export">
      <h2>{dataStrings.dataExport}</h2>
      <p>{dataStrings.dataExportText}</p>
      <div class="filters">
        <p>
          <label for="data-from">{dataStrings.dataFrom}</label>
          <input
            id="data-from"
            type="date"
            value={from.value || today}
            max={to.value || today}
            onChange={choose('from')}
          />
        </p>
        <p>
          <label for="data-to">{dataStrings.dataTo}</label>
          <input id="data-to" type="date" value={to.value || today} min={from.value || today} onChange={choose('to')} />
        </p>
      </div>
      {hour.value !== '' && (
        <p class="beside">
          <b>{rangeText(bounds())}</b>
          <Button text={dataStrings.dataWholeDay} onClick={() => navigate(urlWith({ hour: null }), 'replace')} />
        </p>
      )}
      <Price cost={cost} onOrder={(product) => (ordered.value = product)} />
      {files.value && <FileList key={files.value.query} path={path} {...files.value} />}
      {ordered.value && (
        <Dialog
          title={dataStrings.dataOrder(labelOf(ordered.value.product))}
          submitLabel={dataStrings.dataOrderSubmit(groupedText(ordered.value.credits))}
          onSend={() => order(ordered.value?.product ?? '')}
          onClose={() => (ordered.value = null)}
        >
          <p>{dataStrings.dataOrderText(groupedText(String(ordered.value.objects)), sizeText(ordered.value.bytes))}</p>
        </Dialog>
      )}
    </section>
  )
}

/** Rounded to three digits after the point, so that the points of a column stand below each other. */
function shortPrice(credits: string): string {
  const micro = microOf(credits)
  if (micro > 0n && micro < 1_000n) return dataStrings.dataLeastPrice
  const digits = String((micro + 500n) / 1_000n).padStart(4, '0')
  return groupedText(`${digits.slice(0, -3)}.${digits.slice(-3)}`)
}

interface PriceProps {
  readonly cost: Query<Cost>
  readonly onOrder: (product: Cost['by_product'][number]) => void
}

function Price({ cost, onOrder }: PriceProps) {
  const columns: readonly Column<Cost['by_product'][number]>[] = [
    {
      name: dataStrings.dataColumnsProduct,
      text: ({ product }) => labelOf(product),
      render: ({ product }) => (
        <>
          {labelOf(product)}
          <small class="soft what">{dataStrings.dataProducts[product]}</small>
        </>
      ),
    },
    { ...amountColumn(dataStrings.dataColumnsFiles, ({ objects }) => objects), isMinor: true },
    { name: dataStrings.dataColumnsSize, text: ({ bytes }) => sizeText(bytes), isNumber: true, isMinor: true },
    {
      ...amountColumn<Cost['by_product'][number]>(dataStrings.dataColumnsPrice, ({ credits }) => credits),
      render: ({ credits }) => <span title={groupedText(credits)}>{shortPrice(credits)}</span>,
    },
    {
      name: dataStrings.dataColumnsLinks,
      render: (row) =>
        row.objects > 0 && (
          <Button
            text={dataStrings.dataGetLinks}
            class="plain"
            aria-label={dataStrings.dataOrder(labelOf(row.product))}
            onClick={() => onOrder(row)}
          />
        ),
    },
  ]
  return (
    <QueryView query={cost} height={600}>
      {({ objects, bytes, credits, by_product: products }) => (
        <>
          <Table
            caption={dataStrings.dataPrice}
            columns={columns}
            rows={products}
            rowKey={({ product }) => product}
            csv="export-price"
            empty=""
          />
          <p>{dataStrings.dataTotal(groupedText(String(objects)), sizeText(bytes), groupedText(credits))}</p>
        </>
      )}
    </QueryView>
  )
}

const FILE_COLUMNS: readonly Column<Files['files'][number]>[] = [
  {
    name: dataStrings.dataColumnsFile,
    text: ({ key }) => key,
    render: ({ key, link }) => (
      <a href={link} download={key.split('/').at(-1)} title={key}>
        {key.split('/').at(-1)}
      </a>
    ),
  },
  { name: dataStrings.dataColumnsFirst, text: ({ from_ms: ms }) => timeText(ms) },
  { name: dataStrings.dataColumnsLast, text: ({ to_ms: ms }) => timeText(ms) },
  { name: dataStrings.dataColumnsSize, text: ({ bytes }) => sizeText(bytes), isNumber: true },
  {
    name: dataStrings.dataColumnsChecksum,
    text: ({ sha256 }) => sha256,
    render: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}…</code>,
  },
]

interface FileListProps extends RangeProps {
  readonly product: string
  readonly page: Files
  readonly query: string
}

/** Pages after the first are charged when they are requested, as the price above says. */
function FileList({ path, product, page, query }: FileListProps) {
  const files = useSignal(page.files)
  const next = useSignal(page.next)
  const error = useSignal<RequestError | null>(null)
  const loadMore = async () => {
    const result = await request<Files>('GET', `${path}files?${query}&after=${encodeURIComponent(next.value ?? '')}`)
    error.value = result.ok ? null : result.error
    if (!result.ok) return
    files.value = [...files.value, ...result.value.files]
    next.value = result.value.next
  }
  return (
    <>
      <h3>{dataStrings.dataFiles(labelOf(product), timeText(page.expires_ms))}</h3>
      <Table
        caption={dataStrings.dataFilesTable}
        columns={FILE_COLUMNS}
        rows={files.value}
        rowKey={({ key }) => key}
        csv={`files-${product}`}
        more={next.value === null ? null : loadMore}
        empty={dataStrings.dataNoFiles}
      />
      <ErrorNote error={error.value} />
    </>
  )
}
