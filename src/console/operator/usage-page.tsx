// Usage and revenue by period.

import { DAY_MS } from '../../core/time.ts'
import { params, urlWith } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { Link } from '../shell.tsx'
import { Bars } from '../ui/bars.tsx'
import { Filters } from '../ui/form.tsx'
import { dayText, groupedText } from '../ui/format.ts'
import { QueryView } from '../ui/parts.tsx'
import { columnsByDay, partNames } from '../ui/stacked-bars.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { type Business, BusinessFigures, useBusiness } from './business-pages.tsx'
import { filterQuery } from './parts.tsx'
import * as strings from './strings.ts'

function SpentByDay({ business: { from, to, days } }: { business: Business }) {
  const parts = days.flatMap(({ date, by_product: products }) =>
    Object.entries(products).map(([part, credits]) => ({ date, part, credits })),
  )
  return (
    <section class="card">
      <h2>{strings.businessByDay}</h2>
      {parts.length === 0 ? (
        <p>{strings.businessNoSpend(from, to)}</p>
      ) : (
        <Bars
          label={strings.businessChart(from, to)}
          columns={columnsByDay(from, to, parts)}
          parts={partNames(parts)}
          valueText={(value) => strings.businessCredits(groupedText(String(value)))}
        />
      )}
    </section>
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
      <nav class="segments" aria-label={strings.businessPeriods}>
        {[1, 7, 30, 90].map((days) => {
          const from = dayText(nowMs() - (days - 1) * DAY_MS)
          const isHere = params.value.get('from') === from && !params.value.get('to')
          return (
            <Link key={days} to={urlWith({ from, to: null })} isHere={isHere}>
              {days === 1 ? strings.businessToday : strings.businessDays(days)}
            </Link>
          )
        })}
      </nav>
      <QueryView query={business}>
        {(shown) => (
          <>
            <BusinessFigures business={shown} />
            <SpentByDay business={shown} />
            <Table
              caption={strings.businessTable(shown.from, shown.to)}
              columns={DAY_COLUMNS}
              rows={[...shown.days].reverse()}
              empty={strings.businessEmpty}
              csv={`usage-${shown.from}-${shown.to}`}
            />
            <Assumptions business={shown} />
          </>
        )}
      </QueryView>
    </>
  )
}

function Assumptions({ business: { cost, million_usd: price } }: { readonly business: Business }) {
  if (cost === null && price !== null) return null
  return (
    <details>
      <summary>{strings.businessAssumptions}</summary>
      <ul>
        {cost?.assumptions.map((each) => (
          <li key={each}>{each}</li>
        ))}
        {price === null && (
          <li>
            {strings.businessNoPrice}
            <code>MILLION_CREDITS_USD</code>
            {strings.businessNoPriceIn}
            <code>weir.toml</code>.
          </li>
        )}
      </ul>
    </details>
  )
}
