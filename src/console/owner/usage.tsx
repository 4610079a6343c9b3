// What the account used, per UTC day, and on what.

import { addressWith, go, useParam } from '../address.dom.ts'
import { Bars } from '../ui/bars.tsx'
import { Choice } from '../ui/form.tsx'
import { Answered, Curl, infoLine } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { microText } from '../ui/text.ts'
import type { Usage } from './answers.ts'
import { spending, useOwn } from './own.dom.ts'
import { dailyColumns, microOf } from './owner-words.ts'

type ByKey = Usage['by_key'][number]
type ByType = Usage['by_type'][number]
type Sums = Pick<ByKey, 'credits' | 'calls' | 'stream_minutes' | 'pipeline_rows'>

const SUMS: readonly Column<Sums>[] = [
  numberColumn('Credits', (row) => microText(microOf(row.credits))),
  amountColumn('Calls', (row) => row.calls),
  amountColumn('Minutes', (row) => row.stream_minutes),
  amountColumn('Rows', (row) => row.pipeline_rows),
]
const BY_KEY: readonly Column<ByKey>[] = [
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Label', text: ({ label }) => label },
  ...SUMS,
]
const BY_TYPE: readonly Column<ByType>[] = [
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  ...SUMS,
]

const BY_DAY: readonly Column<{ date: string; part: string; label: string; credits: string }>[] = [
  { name: 'Day, UTC', text: ({ date }) => date },
  { name: 'For', text: ({ part }) => part || 'others' },
  { name: 'Label', text: ({ label }) => label },
  numberColumn('Credits', (row) => microText(microOf(row.credits))),
]

const EMPTY = () => (
  <>
    <p>Nothing was used in these days. A first call:</p>
    <Curl line={infoLine('{"type":"allMids"}')} />
  </>
)

export function UsageSection() {
  const split = useParam('stack')
  const duration = useParam('duration')
  const stack = () => (split.value === 'key' ? 'key' : 'type')
  const months = () => duration.value || '1'
  const usage = useOwn<Usage>(() => {
    void spending.value
    return `/platform/usage/?stack=${stack()}&duration=${encodeURIComponent(months())}`
  })
  const value = usage.value.value
  const choose = (name: string) => (chosen: string) => go(addressWith({ [name]: chosen }))
  return (
    <section aria-busy={usage.isLoading.value}>
      <h2>Usage{value && `, ${value.period.from} to ${value.period.to} UTC`}</h2>
      <div class="beside">
        <Choice
          label="Months"
          value={months()}
          options={[
            ['1', 'a month'],
            ['3', '3 months'],
            ['6', '6 months'],
            ['12', 'a year'],
          ]}
          onChoose={choose('duration')}
        />
        <Choice
          label="Days split"
          value={stack()}
          options={[
            ['type', 'by type'],
            ['key', 'by key'],
          ]}
          onChoose={choose('stack')}
        />
      </div>
      <Answered of={usage}>{(used) => <Used used={used} by={stack()} />}</Answered>
    </section>
  )
}

function Used({ used, by }: { used: Usage; by: string }) {
  const { period, by_day: byDay, by_key: byKey, by_type: byType } = used
  const { columns, parts } = dailyColumns(used)
  const days = byDay.flatMap(({ date, parts: own = [] }) => own.map((part) => ({ date, ...part })))
  return (
    <>
      {parts.length > 0 && (
        <Bars
          label={`Credits a day, ${period.from} to ${period.to} UTC, by ${by}`}
          columns={columns}
          parts={parts}
          words={(micro) => `${microText(micro)} credits`}
        />
      )}
      {days.length > 0 && (
        <details>
          <summary>Day by day</summary>
          <Table
            caption={`Use by day and ${by}`}
            columns={BY_DAY}
            rows={days}
            empty=""
            csv={`usage-by-day-${period.from}-${period.to}`}
          />
        </details>
      )}
      <h3>What keys used</h3>
      <Table caption="Use by key" columns={BY_KEY} rows={byKey} empty={<EMPTY />} csv="usage-by-key" />
      <h3>What it was used for</h3>
      <Table
        caption="Use by product and type"
        columns={BY_TYPE}
        rows={byType}
        empty="Nothing in these days."
        csv="usage-by-type"
      />
    </>
  )
}
