// Parts of the business that overview and usage both show.

import { Link } from '../shell.tsx'
import { groupedText } from '../ui/amounts.ts'
import { Bars } from '../ui/bars.tsx'
import type { Figure } from '../ui/figures.tsx'
import { priceText } from '../ui/orders.ts'
import type { Business } from './business.dom.ts'
import { pageAddress } from './cells.tsx'
import { eachDay, partsOf } from './each-day.ts'

const dollars = (value: string | undefined) => (value === undefined ? '–' : `$ ${groupedText(value)}`)

export function businessFigures(business: Business): Figure[] {
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
          {period}; <Link to={pageAddress('orders', { state: 'open' })}>{open} open</Link>
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

/** Credits spent by day, by product. */
export function SpentByDay({ business: { from, to, days } }: { business: Business }) {
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
      columns={eachDay(from, to, parts)}
      parts={partsOf(parts)}
      words={(value) => `${value} credits`}
    />
  )
}
