// The overview page, and usage and revenue by period.

import { DAY_MS } from '../../core/time.ts'
import { urlWith } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { archiveFigure, BlockAges, heightFigure, StateNote, useStatus } from '../status/status-parts.tsx'
import { STATUS } from '../status/strings.ts'
import { Bars } from '../ui/bars.tsx'
import { Filters } from '../ui/form.tsx'
import { dayText, groupedText, priceText } from '../ui/format.ts'
import { ErrorNote, type Figure, Figures, QueryView } from '../ui/parts.tsx'
import { columnsByDay, partNames } from '../ui/stacked-bars.ts'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { filterQuery, pageUrl } from './parts.tsx'
import { signUpWarning } from './sign-up-warning.ts'
import * as strings from './strings.ts'

type Business = Responses['business']

/** An empty query means the last month. */
const useBusiness = (query: () => string) => useQuery<Business>(() => `/admin/business${query()}`)

const dollars = (value: string | undefined) => (value === undefined ? '–' : `$${groupedText(value)}`)

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
  const period = strings.businessPeriod(from, to)
  const money = (usd: string | null) => (usd === null ? period : `${dollars(usd)}, ${period}`)
  return [
    {
      name: strings.businessOrdersPaid,
      value: paid.map(({ amount, currency }) => priceText(amount, currency)).join(', ') || '0',
      note: (
        <>
          {period};{' '}
          <Link to={pageUrl('orders', { state: 'open' })}>{strings.businessOpenOrders(groupedText(String(open)))}</Link>
        </>
      ),
    },
    { name: strings.businessGranted, value: groupedText(totals.granted), note: money(sold) },
    { name: strings.businessSpent, value: groupedText(totals.spent), note: money(spent) },
    { name: strings.businessCalls, value: groupedText(String(totals.calls)), note: period },
    { name: strings.businessRefusals, value: groupedText(String(totals.refusals)), note: period },
    ...(signUp
      ? [
          {
            name: strings.businessSignUpLinks,
            value: strings.businessSignUpCount(groupedText(String(signUp.links)), groupedText(String(signUp.per_day))),
            note: strings.businessSignUpNote,
          },
        ]
      : []),
    {
      name: strings.businessCost,
      value: dollars(cost === null ? undefined : Number(cost.total_usd).toFixed(2)),
      note: cost ? strings.businessCostNote(period) : strings.businessCostUnknown,
    },
  ]
}

function SpentByDay({ business: { from, to, days } }: { business: Business }) {
  const parts = days.flatMap(({ date, by_product: products }) =>
    Object.entries(products).map(([part, credits]) => ({ date, part, credits })),
  )
  if (parts.length === 0) return <p class="empty">{strings.businessNoSpend(from, to)}</p>
  return (
    <Bars
      label={strings.businessChart(from, to)}
      columns={columnsByDay(from, to, parts)}
      parts={partNames(parts)}
      valueText={(value) => strings.businessCredits(groupedText(String(value)))}
    />
  )
}

const REFUSAL_COLUMNS: readonly Column<Business['refused'][number]>[] = [
  {
    name: strings.commonCode,
    text: ({ code }) => code,
    render: ({ code }) => <Link to={pageUrl('refusals', { code })}>{labelOf(code)}</Link>,
  },
  amountColumn(strings.businessCount, ({ count }) => count),
]

export function OverviewPage() {
  const status = useStatus()
  const business = useBusiness(() => '')
  const now = status.value.value
  const sold = business.value.value
  const warning = sold && signUpWarning(sold.sign_up)
  return (
    <>
      <h1>{strings.pagesOverview}</h1>
      <ErrorNote error={status.error.value} onRetry={status.reload} />
      {now && (
        <>
          <StateNote now={now} />
          <Figures
            figures={[
              heightFigure(now),
              {
                name: strings.businessDelay,
                value: now.lagMs === null ? '–' : STATUS.ms(now.lagMs),
                note: STATUS.delayNote,
              },
              {
                name: strings.businessConnections,
                value: now.regions.reduce((sum, { sockets }) => sum + sockets, 0),
                note: strings.businessConnectionsNote,
              },
              archiveFigure(now),
              ...(sold
                ? [
                    {
                      name: strings.businessAccounts,
                      value: groupedText(String(sold.accounts)),
                      note: strings.businessAccountKeys(groupedText(String(sold.keys))),
                    },
                  ]
                : []),
            ]}
          />
        </>
      )}
      <ErrorNote error={business.error.value} onRetry={business.reload} />
      {warning && (
        <p class="note trouble" role="alert">
          {warning}
        </p>
      )}
      {sold && (
        <>
          <Figures figures={businessFigures(sold)} />
          <h2>{strings.businessSpentByDay}</h2>
          <SpentByDay business={sold} />
        </>
      )}
      {now && <BlockAges regions={now.regions} />}
      {sold && (
        <>
          <h2>{strings.businessRefusalsHeading(sold.from, sold.to)}</h2>
          <Table
            caption={strings.businessRefusalsByCode}
            columns={REFUSAL_COLUMNS}
            rows={sold.refused}
            empty={strings.businessNoRefusals}
            csv="rejected-requests-by-code"
          />
        </>
      )}
    </>
  )
}

type BusinessDay = Business['days'][number]
const DAY_COLUMNS: readonly Column<BusinessDay>[] = [
  { name: strings.businessColumnsDay, text: ({ date }) => date },
  amountColumn(strings.businessColumnsGranted, ({ granted }) => granted),
  amountColumn(strings.businessColumnsSpent, ({ spent }) => spent),
  amountColumn(strings.businessColumnsCalls, ({ calls }) => calls),
  amountColumn(strings.businessColumnsMinutes, ({ stream_minutes: minutes }) => minutes),
  amountColumn(strings.businessColumnsRows, ({ pipeline_rows: rows }) => rows),
  amountColumn(strings.businessColumnsRefusals, ({ refusals }) => refusals),
]
const PERIOD_FIELDS = [
  { name: 'from', label: strings.businessFrom, type: 'date' },
  { name: 'to', label: strings.businessTo, type: 'date' },
] as const

export function UsagePage() {
  const business = useBusiness(() => {
    const query = filterQuery(PERIOD_FIELDS)
    return query.size > 0 ? `?${query}` : ''
  })
  return (
    <>
      <h1>{strings.businessTitle}</h1>
      <Filters fields={PERIOD_FIELDS} />
      <p class="beside">
        {[1, 7, 30, 90].map((days) => (
          <Link key={days} to={urlWith({ from: dayText(Date.now() - (days - 1) * DAY_MS), to: null })}>
            {days === 1 ? strings.businessToday : strings.businessDays(days)}
          </Link>
        ))}
      </p>
      <QueryView query={business}>
        {(shown) => (
          <>
            <Figures figures={businessFigures(shown)} />
            <SpentByDay business={shown} />
            <Table
              caption={strings.businessTable(shown.from, shown.to)}
              columns={DAY_COLUMNS}
              rows={[...shown.days].reverse()}
              empty={strings.businessEmpty}
              csv={`usage-${shown.from}-${shown.to}`}
            />
            {shown.cost && (
              <details>
                <summary>{strings.businessAssumptions}</summary>
                <ul>
                  {shown.cost.assumptions.map((each) => (
                    <li key={each}>{each}</li>
                  ))}
                </ul>
              </details>
            )}
            {shown.million_usd === null && (
              <p>
                {strings.businessNoPrice}
                <code>MILLION_CREDITS_USD</code>
                {strings.businessNoPriceIn}
                <code>wrangler.toml</code>.
              </p>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}
