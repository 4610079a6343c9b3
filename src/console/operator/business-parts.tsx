// Parts of the business that overview and usage both show.

import { groupedText } from '../ui/amounts.ts'
import { Bars } from '../ui/bars.tsx'
import type { Figure } from '../ui/figures.tsx'
import type { Business } from './business.dom.ts'
import { eachDay, partsOf } from './each-day.ts'

const dollars = (value: string | number | null | undefined) =>
  value === null || value === undefined ? '–' : `$ ${typeof value === 'number' ? value.toFixed(2) : groupedText(value)}`

export function businessFigures({ from, to, totals, sold_usd: sold, spent_usd: spent, cost }: Business): Figure[] {
  const period = `${from} to ${to}`
  const money = (usd: string | null) => (usd === null ? period : `${dollars(usd)}, ${period}`)
  return [
    { name: 'Credits sold', value: groupedText(totals.granted), note: money(sold) },
    { name: 'Credits spent', value: groupedText(totals.spent), note: money(spent) },
    { name: 'Calls', value: groupedText(String(totals.calls)), note: period },
    { name: 'Refusals', value: groupedText(String(totals.refusals)), note: period },
    {
      name: 'Cost of the platform',
      value: dollars(cost?.total_usd),
      note: cost ? 'an estimate' : 'the log did not answer',
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
