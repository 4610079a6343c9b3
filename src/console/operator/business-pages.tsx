// How the gateway and its business stand: the overview, and usage and revenue by period.

import { DAY_MS } from '../../core/time.ts'
import { urlWith } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { archiveFigure, BlockAges, heightFigure, StateNote, useStatus } from '../status/status-parts.tsx'
import { Bars } from '../ui/bars.tsx'
import { Filters } from '../ui/form.tsx'
import { dayText, groupedText, priceText } from '../ui/format.ts'
import { ErrorNote, type Figure, Figures, QueryView } from '../ui/parts.tsx'
import { columnsByDay, partNames } from '../ui/stacked-bars.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { filterQuery, pageUrl } from './parts.tsx'
import { signUpWarning } from './sign-up-warning.ts'

type Business = Responses['business']

/** Of this period; an empty query is the last month. */
const useBusiness = (query: () => string) => useQuery<Business>(() => `/admin/business${query()}`)

const dollars = (value: string | undefined) => (value === undefined ? '–' : `$ ${groupedText(value)}`)

function businessFigures(business: Business): Figure[] {
  const {
    from,
    to,
    totals,
    paid,
    open_orders: open,
    sign_up: signUp,
    sold_usd: sold,
    spent_usd: spent,
    cost,
  } = business
  const period = `${from} to ${to}`
  const money = (usd: string | null) => (usd === null ? period : `${dollars(usd)}, ${period}`)
  return [
    {
      name: 'Orders paid',
      value: paid.map(({ amount, currency }) => priceText(amount, currency)).join(', ') || '0',
      note: (
        <>
          {period}; <Link to={pageUrl('orders', { state: 'open' })}>{open} open</Link>
        </>
      ),
    },
    { name: 'Credits granted beside plans', value: groupedText(totals.granted), note: money(sold) },
    { name: 'Credits spent', value: groupedText(totals.spent), note: money(spent) },
    { name: 'Calls', value: groupedText(String(totals.calls)), note: period },
    { name: 'Refusals', value: groupedText(String(totals.refusals)), note: period },
    ...(signUp
      ? [{ name: 'Sign-up links', value: `${signUp.links} of ${signUp.per_day}`, note: 'of the last 24 hours' }]
      : []),
    {
      name: 'Cost of the platform',
      value: dollars(cost === null ? undefined : Number(cost.total_usd).toFixed(2)),
      note: cost ? `an estimate of a deployment, ${period}` : 'the log did not answer',
    },
  ]
}

function SpentByDay({ business: { from, to, days } }: { business: Business }) {
  const parts = days.flatMap(({ date, by_product: products }) =>
    Object.entries(products).map(([part, credits]) => ({ date, part, credits })),
  )
  if (parts.length === 0)
    return (
      <p class="empty">
        Nothing was spent from {from} to {to}.
      </p>
    )
  return (
    <Bars
      label={`Credits spent by UTC day, ${from} to ${to}`}
      columns={columnsByDay(from, to, parts)}
      parts={partNames(parts)}
      valueText={(value) => `${value} credits`}
    />
  )
}

const REFUSAL_COLUMNS: readonly Column<Business['refused'][number]>[] = [
  {
    name: 'Code',
    text: ({ code }) => code,
    render: ({ code }) => <Link to={pageUrl('refusals', { code })}>{code}</Link>,
  },
  numberColumn('Refusals', ({ count }) => count),
]

export function OverviewPage() {
  const status = useStatus()
  const business = useBusiness(() => '')
  const now = status.value.value
  const sold = business.value.value
  const warning = sold && signUpWarning(sold.sign_up)
  return (
    <>
      <h1>Overview</h1>
      <ErrorNote trouble={status.error.value} again={status.reload} />
      {now && (
        <>
          <StateNote now={now} />
          <Figures
            figures={[
              heightFigure(now),
              { name: 'Log is late by, ms', value: now.lagMs ?? '–', note: 'behind the clock' },
              {
                name: 'Open sockets',
                value: now.regions.reduce((sum, { sockets }) => sum + sockets, 0),
                note: 'of clients, last minute',
              },
              archiveFigure(now),
              ...(sold ? [{ name: 'Accounts', value: sold.accounts, note: `with ${sold.keys} keys` }] : []),
            ]}
          />
        </>
      )}
      <ErrorNote trouble={business.error.value} again={business.reload} />
      {warning && (
        <p class="note trouble" role="alert">
          {warning}
        </p>
      )}
      {sold && (
        <>
          <Figures figures={businessFigures(sold)} />
          <h2>Credits spent by day, UTC</h2>
          <SpentByDay business={sold} />
        </>
      )}
      {now && <BlockAges regions={now.regions} />}
      {sold && (
        <>
          <h2>
            Refusals by reason, {sold.from} to {sold.to}
          </h2>
          <Table
            caption="Refusals by reason"
            columns={REFUSAL_COLUMNS}
            rows={sold.refused}
            empty="None."
            csv="refusals-by-reason"
          />
        </>
      )}
    </>
  )
}

type BusinessDay = Business['days'][number]
const DAY_COLUMNS: readonly Column<BusinessDay>[] = [
  { name: 'Day (UTC)', text: ({ date }) => date },
  amountColumn('Credits granted', ({ granted }) => granted),
  amountColumn('Credits spent', ({ spent }) => spent),
  amountColumn('Calls', ({ calls }) => calls),
  amountColumn('Minutes of streams', ({ stream_minutes: minutes }) => minutes),
  amountColumn('Rows of pipelines', ({ pipeline_rows: rows }) => rows),
  amountColumn('Refusals', ({ refusals }) => refusals),
]
const PERIOD_FIELDS = [
  { name: 'from', label: 'First day', type: 'date' },
  { name: 'to', label: 'Last day', type: 'date' },
] as const

export function UsagePage() {
  const business = useBusiness(() => {
    const query = filterQuery(PERIOD_FIELDS)
    return query.size > 0 ? `?${query}` : ''
  })
  return (
    <>
      <h1>Usage and revenue</h1>
      <Filters fields={PERIOD_FIELDS} />
      <p class="beside">
        {[1, 7, 30, 90].map((days) => (
          <Link key={days} to={urlWith({ from: dayText(Date.now() - (days - 1) * DAY_MS), to: null })}>
            {days === 1 ? 'Today' : `${days} days`}
          </Link>
        ))}
      </p>
      <QueryView query={business}>
        {(shown) => (
          <>
            <Figures figures={businessFigures(shown)} />
            <SpentByDay business={shown} />
            <Table
              caption={`Days from ${shown.from} to ${shown.to}`}
              columns={DAY_COLUMNS}
              rows={[...shown.days].reverse()}
              empty="Nothing was sold or used in this period."
              csv={`usage-${shown.from}-${shown.to}`}
            />
            {shown.cost && (
              <details>
                <summary>What the cost is an estimate of</summary>
                <ul>
                  {shown.cost.assumptions.map((each) => (
                    <li key={each}>{each}</li>
                  ))}
                </ul>
              </details>
            )}
            {shown.million_usd === null && (
              <p>
                What credits are worth is not shown, since no price of them is set: <code>MILLION_CREDITS_USD</code> in{' '}
                <code>wrangler.toml</code>.
              </p>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}
