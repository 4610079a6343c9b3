// Usage per UTC day, key and endpoint.

import { navigate, urlWith, useParam } from '../address.dom.ts'
import { Select } from '../ui/form.tsx'
import { creditsText, groupedText } from '../ui/format.ts'
import { Figures, infoCurl, QueryView, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { spendVersion, useAccountQuery } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import type { Usage } from './responses.ts'
import * as strings from './strings.ts'
import { UsageChart } from './usage-chart.tsx'

type ByKey = Usage['by_key'][number]
type ByType = Usage['by_type'][number]
type UsageSums = Pick<ByKey, 'credits' | 'calls' | 'stream_minutes' | 'pipeline_rows'>

const USAGE_COLUMNS: readonly Column<UsageSums>[] = [
  numberColumn(strings.usageColumnsCredits, (row) => creditsText(microOf(row.credits))),
  amountColumn(strings.usageColumnsCalls, (row) => row.calls),
  amountColumn(strings.usageColumnsMinutes, (row) => row.stream_minutes),
  amountColumn(strings.usageColumnsRows, (row) => row.pipeline_rows),
]
const BY_KEY_COLUMNS: readonly Column<ByKey>[] = [
  { name: strings.usageColumnsKey, text: ({ prefix }) => prefix ?? '' },
  { name: strings.usageColumnsLabel, text: ({ label }) => label },
  ...USAGE_COLUMNS,
]
const BY_TYPE_COLUMNS: readonly Column<ByType>[] = [
  { name: strings.usageColumnsProduct, text: ({ product }) => labelOf(product) },
  { name: strings.usageColumnsType, text: ({ type }) => type },
  ...USAGE_COLUMNS,
]

const BY_DAY_COLUMNS: readonly Column<{ date: string; part: string; label: string; credits: string }>[] = [
  { name: strings.usageColumnsDay, text: ({ date }) => date },
  { name: strings.usageColumnsPart, text: ({ part }) => part || strings.usageOther },
  { name: strings.usageColumnsLabel, text: ({ label }) => label },
  numberColumn(strings.usageColumnsCredits, (row) => creditsText(microOf(row.credits))),
]

const NoUsage = () => (
  <>
    <p>{strings.usageEmpty}</p>
    <Snippet line={infoCurl('{"type":"allMids"}')} />
  </>
)

export function UsageSection() {
  const stackParam = useParam('stack')
  const duration = useParam('duration')
  const stack = () => (stackParam.value === 'key' ? 'key' : 'type')
  const months = () => duration.value || '1'
  const usage = useAccountQuery<Usage>(() => {
    void spendVersion.value
    return `/platform/usage/?stack=${stack()}&duration=${encodeURIComponent(months())}`
  })
  const value = usage.value.value
  const choose = (name: string) => (chosen: string) => navigate(urlWith({ [name]: chosen }))
  return (
    <>
      <h1>{strings.usageTitle}</h1>
      <div class="beside">
        <Select
          label={strings.usageDuration}
          value={months()}
          options={strings.usageDurations}
          onSelect={choose('duration')}
        />
        <Select
          label={strings.usageGroup}
          value={stack()}
          options={strings.usageGroupOptions}
          onSelect={choose('stack')}
        />
        {value && <span class="soft">{strings.usagePeriod(value.period.from, value.period.to)}</span>}
      </div>
      <QueryView query={usage} height={640}>
        {(used) => <UsageTables used={used} by={stack()} />}
      </QueryView>
    </>
  )
}

function UsageTables({ used, by }: { used: Usage; by: 'key' | 'type' }) {
  const { period, totals, by_day: byDay, by_key: byKey, by_type: byType } = used
  const days = byDay.flatMap(({ date, parts: own = [] }) => own.map((part) => ({ date, ...part })))
  return (
    <>
      <Figures
        figures={[
          { name: strings.usageColumnsCredits, value: groupedText(totals.credits) },
          { name: strings.usageColumnsCalls, value: groupedText(String(totals.calls)) },
          { name: strings.usageColumnsMinutes, value: groupedText(String(totals.stream_minutes)) },
        ]}
      />
      <section class="card">
        <h2>{strings.usageChartTitle}</h2>
        <UsageChart used={used} by={by} />
      </section>
      {days.length > 0 && (
        <details>
          <summary>{strings.usageShowDays}</summary>
          <Table
            caption={strings.usageByDay(strings.usageGroups[by])}
            columns={BY_DAY_COLUMNS}
            rows={days}
            empty=""
            csv={`usage-by-day-${period.from}-${period.to}`}
          />
        </details>
      )}
      <h2>{strings.usageByKey}</h2>
      <Table
        caption={strings.usageByKey}
        columns={BY_KEY_COLUMNS}
        rows={byKey}
        empty={<NoUsage />}
        csv="usage-by-key"
      />
      <h2>{strings.usageByType}</h2>
      <Table
        caption={strings.usageByType}
        columns={BY_TYPE_COLUMNS}
        rows={byType}
        empty={strings.usageEmptyTypes}
        csv="usage-by-type"
      />
    </>
  )
}
