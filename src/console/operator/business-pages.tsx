// The overview page.

import { pageUrl } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { archiveFigure, BlockAges, heightFigure, StateNote, type Status, useStatus } from '../status/status-parts.tsx'
import { STATUS } from '../status/strings.ts'
import { groupedText, priceText } from '../ui/format.ts'
import { Lazy } from '../ui/lazy.tsx'
import { ErrorNote, type Figure, Figures, Reserved } from '../ui/parts.tsx'
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
      <Figures figures={salesFigures(business)} />
      <Figures figures={platformFigures(business)} />
    </>
  )
}

function salesFigures({ totals, paid, open_orders: open, sold_usd: sold, spent_usd: spent }: Business): Figure[] {
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
    {
      name: strings.businessRefusals,
      value: <Link to={pageUrl('refusals')}>{groupedText(String(totals.refusals))}</Link>,
    },
  ]
}

function platformFigures({ accounts, keys, sign_up: signUp, cost }: Business): Figure[] {
  return [
    {
      name: strings.businessAccounts,
      value: groupedText(String(accounts)),
      note: strings.businessAccountKeys(groupedText(String(keys))),
    },
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
      {now && <StateNote now={now} />}
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
      {now && (
        <>
          <h2>{strings.pagesFeed}</h2>
          <Figures figures={feedFigures(now)} />
          <BlockAges regions={now.regions} />
        </>
      )}
    </>
  )
}

const feedFigures = (now: Status): Figure[] => [
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
  heightFigure(now),
  archiveFigure(now),
]
