// The request log: calls and socket events of the account's keys, with filters in the URL and their latency.

import { navigate, params, urlWith } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { usePagedQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { durationText, groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, Figures, infoCurl, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { dataVersion, heartbeat } from './account-data.dom.ts'
import * as strings from './logs-strings.ts'

type Page = Responses['ownLogs']
type Call = Page['calls'][number]

/** URL parameter of each filter. Other sections have parameters for keys and codes of their own. */
const FILTERS = {
  hours: 'log_hours',
  key: 'log_key',
  product: 'log_product',
  type: 'log_type',
  status: 'log_status',
  code: 'log_code',
} as const
type Filter = keyof typeof FILTERS
const NAMES = Object.keys(FILTERS) as Filter[]

const filterValue = (name: Filter) => params.value.get(FILTERS[name]) ?? ''
const change = (name: Filter, value: string) => navigate(urlWith({ [FILTERS[name]]: value.trim() }))
const clearAll = () => navigate(urlWith(Object.fromEntries(NAMES.map((name) => [FILTERS[name], null]))))

/** Path of the log with the filters of the URL. */
function pathOf(nowMs: number): string {
  const { hours, ...query } = Object.fromEntries(NAMES.map((name) => [name, filterValue(name)]))
  const since = Number(hours) > 0 ? { since: String(Math.floor(nowMs - Number(hours) * 3_600_000)) } : {}
  const set = Object.entries(query).filter(([, value]) => value !== '')
  return `/platform/logs/?${new URLSearchParams({ ...Object.fromEntries(set), ...since })}`
}

const durationOf = (ms: number) => (ms === 0 ? strings.belowOne : strings.ms(groupedText(String(ms))))

/** A value that filters the log when it is clicked. */
const FilterLink = ({ name, value }: { readonly name: Filter; readonly value: string }) =>
  value === '' ? null : (
    <Link to={urlWith({ [FILTERS[name]]: value })}>
      <code>{value}</code>
    </Link>
  )

const COLUMNS: readonly Column<Call>[] = [
  {
    name: strings.columnsTime,
    text: ({ at }) => timeText(at),
    render: ({ at }) => (
      <time dateTime={new Date(at).toISOString()} title={`${timeText(at)}.${String(at % 1_000).padStart(3, '0')} UTC`}>
        {strings.ago(durationText(nowMs() - at))}
      </time>
    ),
  },
  {
    name: strings.key,
    text: ({ prefix }) => prefix,
    render: ({ prefix }) => <FilterLink name="key" value={prefix} />,
    isMinor: true,
  },
  { name: strings.product, text: ({ product }) => strings.products[product], isMinor: true },
  { name: strings.type, text: ({ type }) => type, render: ({ type }) => <FilterLink name="type" value={type} /> },
  {
    name: strings.columnsStatus,
    isNumber: true,
    text: ({ status }) => String(status),
    render: ({ status }) => <span class={status < 400 ? 'good' : 'bad'}>{status}</span>,
  },
  {
    name: strings.columnsCode,
    text: ({ code }) => code,
    render: ({ code }) => <span title={code}>{labelOf(code)}</span>,
    isMinor: true,
  },
  numberColumn(strings.columnsDuration, ({ ms }) => (ms === null ? '' : durationOf(ms))),
  { ...amountColumn<Call>(strings.columnsCredits, ({ credits }) => credits), isMinor: true },
  {
    name: strings.columnsRequest,
    text: ({ request_id: id }) => id,
    render: ({ request_id: id }) => <code>{id}</code>,
    isMinor: true,
  },
]

export function Logs() {
  const paged = usePagedQuery<Call>('calls', 'before', () => pathOf(dataVersion.value < 0 ? 0 : nowMs()))
  // Ages are drawn again.
  void heartbeat.value
  const first = paged.first.value as Page | null
  const rows = paged.rows.value
  const isFiltered = NAMES.some((name) => filterValue(name) !== '')
  return (
    <section>
      <h1>{strings.title}</h1>
      <LogFilters />
      <p class="beside">
        {first && first.kept_hours > 0 && (
          <span class="soft">{strings.kept(groupedText(String(first.kept_hours)))}</span>
        )}
        <Button text={strings.refresh} class="plain" onClick={paged.reload} />
        {isFiltered && <Button text={strings.clear} class="plain" onClick={clearAll} />}
      </p>
      <ErrorNote error={paged.error.value} onRetry={paged.reload} />
      {first && first.kept_hours > 0 && <Summary of={first} />}
      {rows && (
        <Table
          caption={strings.table}
          columns={COLUMNS}
          rows={rows}
          csv="logs"
          more={paged.more}
          empty={<Empty isOff={first?.kept_hours === 0} isFiltered={isFiltered} />}
        />
      )}
    </section>
  )
}

function Empty({ isOff, isFiltered }: { isOff: boolean; isFiltered: boolean }) {
  if (isOff) return <p>{strings.off}</p>
  if (isFiltered) return <p>{strings.notFound}</p>
  return (
    <>
      <p>{strings.empty}</p>
      <Snippet line={infoCurl('{"type":"allMids"}')} />
    </>
  )
}

function LogFilters() {
  return (
    <fieldset class="filters" aria-label={strings.filters}>
      <Choice name="hours" label={strings.period} options={strings.periods} />
      <Choice name="product" label={strings.product} options={strings.products} />
      <Choice name="status" label={strings.status} options={strings.statuses} />
      <Words name="type" label={strings.type} hint={strings.typeHint} />
      <Words name="key" label={strings.key} hint={strings.keyHint} />
      <Words name="code" label={strings.code} hint={strings.codeHint} />
    </fieldset>
  )
}

interface FilterProps {
  readonly name: Filter
  readonly label: string
}

function Choice({ name, label, options }: FilterProps & { readonly options: Readonly<Record<string, string>> }) {
  return (
    <label>
      {label}
      <select value={filterValue(name)} onChange={(event) => change(name, event.currentTarget.value)}>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A text filter, applied when it is left or entered. */
function Words({ name, label, hint }: FilterProps & { readonly hint: string }) {
  return (
    <label>
      {label}
      <input
        type="search"
        maxLength={64}
        placeholder={hint}
        value={filterValue(name)}
        onChange={(event) => change(name, event.currentTarget.value)}
      />
    </label>
  )
}

function Summary({ of: page }: { of: Page }) {
  const { matching, left_out: leftOut, latency, since } = page
  const figures = [
    { name: strings.matching, value: groupedText(String(matching)), note: strings.since(timeText(since)) },
    { name: strings.median, value: latency ? durationOf(latency.p50_ms) : strings.none },
    { name: strings.slowest, value: latency ? durationOf(latency.p99_ms) : strings.none },
    {
      name: strings.leftOut,
      value: groupedText(String(leftOut)),
      note: leftOut > 0 ? strings.sampled : strings.complete,
    },
  ]
  return <Figures figures={figures} />
}
