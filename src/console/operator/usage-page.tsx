// Usage and revenue by period.

import { DAY_MS } from '../../core/time.ts'
import { addressWith, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { Link } from '../shell.tsx'
import { groupedText } from '../ui/amounts.ts'
import { Figures } from '../ui/figures.tsx'
import { Filters } from '../ui/filters.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { dayText } from '../ui/when.ts'
import { useBusiness } from './business.dom.ts'
import { businessFigures, SpentByDay } from './business-parts.tsx'

type BusinessDay = Answers['business']['days'][number]
const count = (name: string, of: (day: BusinessDay) => number | string): Column<BusinessDay> => ({
  name,
  isNumber: true,
  text: (day) => String(of(day)),
  draw: (day) => groupedText(String(of(day))),
})
const COLUMNS = [
  { name: 'Day (UTC)', text: ({ date }: BusinessDay) => date },
  count('Credits granted', ({ granted }) => granted),
  count('Credits spent', ({ spent }) => spent),
  count('Calls', ({ calls }) => calls),
  count('Minutes of streams', ({ stream_minutes: minutes }) => minutes),
  count('Rows of pipelines', ({ pipeline_rows: rows }) => rows),
  count('Refusals', ({ refusals }) => refusals),
]
const FIELDS = [
  { name: 'from', label: 'First day', type: 'date' },
  { name: 'to', label: 'Last day', type: 'date' },
] as const

export function UsagePage() {
  const business = useBusiness(() => {
    const query = new URLSearchParams()
    for (const { name } of FIELDS) if (params.value.get(name)) query.set(name, params.value.get(name)!)
    return query.size > 0 ? `?${query}` : ''
  })
  const shown = business.value.value
  return (
    <>
      <h1>Usage and revenue</h1>
      <Filters fields={FIELDS} />
      <p class="beside">
        {[1, 7, 30, 90].map((days) => (
          <Link key={days} to={addressWith({ from: dayText(Date.now() - (days - 1) * DAY_MS), to: null })}>
            {days === 1 ? 'Today' : `${days} days`}
          </Link>
        ))}
      </p>
      <TroubleNote trouble={business.trouble.value} again={business.reload} />
      {shown && (
        <>
          <Figures figures={businessFigures(shown)} />
          <SpentByDay business={shown} />
          <Table
            caption={`Days from ${shown.from} to ${shown.to}`}
            columns={COLUMNS}
            rows={[...shown.days].reverse()}
            rowKey={({ date }) => date}
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
    </>
  )
}
