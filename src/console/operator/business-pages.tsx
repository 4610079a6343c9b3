// The overview page.

import { pageUrl } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { archiveFigure, BlockAges, heightFigure, StateNote, useStatus } from '../status/status-parts.tsx'
import { STATUS } from '../status/strings.ts'
import { groupedText, priceText } from '../ui/format.ts'
import { Lazy } from '../ui/lazy.tsx'
import { ErrorNote, type Figure, Figures, Reserved } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { signUpWarning } from './sign-up-warning.ts'
import * as strings from './strings.ts'

export type Business = Responses['business']

/** An empty query means the last month. */
export const useBusiness = (query: () => string) => useQuery<Business>(() => `/admin/business${query()}`)

const dollars = (value: string | undefined) => (value === undefined ? '–' : `$${groupedText(value)}`)

/** The figures of a period, with its days above them. */
export function BusinessFigures({ business }: { readonly business: Business }) {
  return (
    <>
      <p class="soft">{strings.businessPeriod(business.from, business.to)}</p>
      <Figures figures={businessFigures(business)} />
    </>
  )
}

function businessFigures(business: Business): Figure[] {
  const { totals, paid, open_orders: open, sign_up: signUp, sold_usd: sold, spent_usd: spent, cost } = business
  const money = (usd: string | null) => (usd === null ? null : dollars(usd))
  return [
    {
      name: strings.businessOrdersPaid,
      value: paid.map(({ amount, currency }) => priceText(amount, currency)).join(', ') || '0',
      note: (
        <Link to={pageUrl('orders', { state: 'open' })}>{strings.businessOpenOrders(groupedText(String(open)))}</Link>
      ),
    },
    { name: strings.businessGranted, value: groupedText(totals.granted), note: money(sold) },
    { name: strings.businessSpent, value: groupedText(totals.spent), note: money(spent) },
    { name: strings.businessCalls, value: groupedText(String(totals.calls)) },
    { name: strings.businessRefusals, value: groupedText(String(totals.refusals)) },
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
      note: cost ? strings.businessCostNote : strings.businessCostUnknown,
    },
  ]
}

const REFUSAL_COLUMNS: readonly Column<Business['refused'][number]>[] = [
  {
    name: strings.commonCode,
    text: ({ code }) => code,
    render: ({ code }) => <Link to={pageUrl('refusals', { code })}>{labelOf(code)}</Link>,
  },
  amountColumn(strings.businessCount, ({ count }) => count),
]

const trendCharts = async () => (await import('./trend-charts.tsx')).TrendCharts

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
          <BusinessFigures business={sold} />
          <Lazy load={trendCharts} props={{}} fallback={<Reserved height={480} isLoading />} />
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
