// Revenue, credits, calls and errors of all accounts, by hour, day or month.

import { HOUR_MS } from '../../core/time.ts'
import { navigate, urlWith, useParam } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { Bars, type ColumnAxis } from '../ui/bars.tsx'
import { Select } from '../ui/form.tsx'
import {
  compactText,
  creditsText,
  dateText,
  dayText,
  groupedText,
  hourText,
  priceText,
  shortDayText,
} from '../ui/format.ts'
import { QueryView } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import * as strings from './trend-strings.ts'
import { type TrendCharts as Charts, type Trend, type TrendRow, trendCharts, trendRows } from './trend-view.ts'
import './trend.css'

/** `Nov 2026` */
const monthText = (ms: number) => dateText(ms).split(' ').slice(1).join(' ')

const AXES: Readonly<Record<Trend['step'], ColumnAxis | undefined>> = {
  hour: {
    titleOf: hourText,
    isMarked: (ms) => ms % (12 * HOUR_MS) === 0,
    markOf: (ms) => (new Date(ms).getUTCHours() === 0 ? shortDayText(ms) : `${new Date(ms).getUTCHours()}:00`),
  },
  day: undefined,
  month: {
    titleOf: monthText,
    isMarked: (ms) => new Date(ms).getUTCMonth() % 3 === 0,
    markOf: monthText,
  },
}

interface ChartCardProps {
  readonly title: string
  readonly chart: Charts['credits'] | undefined
  readonly empty: string
  readonly trend: Trend
  readonly valueText: (value: number) => string
  readonly stepText?: (value: number) => string
  readonly note?: string
}

function ChartCard({ title, chart, empty, trend, valueText, stepText = compactText, note }: ChartCardProps) {
  const period = strings.trendPeriods[trend.step === 'hour' ? '2d' : trend.step === 'day' ? '30d' : '12m']
  const axis = AXES[trend.step]
  return (
    <section class="card trend">
      <h3>{title}</h3>
      {chart === undefined || chart.total === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <>
          <p class="sum">{valueText(chart.total)}</p>
          <Bars
            label={strings.trendChart(title, period)}
            columns={chart.columns}
            parts={chart.parts}
            valueText={valueText}
            stepText={stepText}
            {...(axis && { axis })}
          />
        </>
      )}
      {note && <p class="soft">{note}</p>}
    </section>
  )
}

const perMillion = (value: number) => compactText(value / 1_000_000)
const countText = (value: number) => groupedText(String(value))

function ChartGrid({ trend }: { readonly trend: Trend }) {
  const { revenue, credits, calls, rejected } = trendCharts(trend, {
    kept: strings.trendKept,
    refunded: strings.trendRefunded,
    other: strings.trendOther,
    labelOf,
  })
  return (
    <div class="cards">
      {revenue.length === 0 && (
        <ChartCard
          title={strings.trendNoRevenue}
          chart={undefined}
          empty={strings.trendNoOrders}
          trend={trend}
          valueText={String}
        />
      )}
      {revenue.map(({ currency, decimals, ...chart }) => (
        <ChartCard
          key={currency}
          title={strings.trendRevenue(currency.toUpperCase())}
          chart={chart}
          empty={strings.trendNoOrders}
          trend={trend}
          valueText={(value) => priceText((value / 1_000_000).toFixed(decimals), currency)}
          stepText={perMillion}
        />
      ))}
      <ChartCard
        title={strings.trendCredits}
        chart={credits}
        empty={strings.trendNoCredits}
        trend={trend}
        valueText={(micro) => strings.trendCreditsText(creditsText(micro))}
        stepText={perMillion}
      />
      <ChartCard
        title={strings.trendCalls}
        chart={calls}
        empty={strings.trendNoCalls}
        trend={trend}
        valueText={(count) => strings.trendCallsText(countText(count))}
      />
      <ChartCard
        title={strings.trendRejected}
        chart={rejected}
        empty={strings.trendNoRejected}
        trend={trend}
        valueText={(count) => strings.trendRequestsText(countText(count))}
        {...(trend.step === 'month' && { note: strings.trendRejectedKept })}
      />
    </div>
  )
}

const startText = (step: Trend['step'], ms: number) =>
  step === 'hour'
    ? `${dayText(ms)} ${new Date(ms).toISOString().slice(11, 16)}`
    : dayText(ms).slice(0, step === 'day' ? 10 : 7)

const amounts = (paid: TrendRow['paid'], field: 'amount' | 'refunded') =>
  paid.map((one) => priceText(one[field], one.currency)).join(', ')

const columnsOf = (step: Trend['step']): readonly Column<TrendRow>[] => [
  { name: strings.trendColumns[step], text: ({ start }) => startText(step, start) },
  numberColumn(strings.trendColumns.paid, ({ paid }) => amounts(paid, 'amount')),
  numberColumn(strings.trendColumns.refunded, ({ paid }) => amounts(paid, 'refunded')),
  numberColumn(strings.trendColumns.credits, ({ credits }) => creditsText(credits)),
  amountColumn(strings.trendColumns.calls, ({ calls }) => calls),
  amountColumn(strings.trendColumns.minutes, ({ minutes }) => minutes),
  amountColumn(strings.trendColumns.rows, ({ rows }) => rows),
  amountColumn(strings.trendColumns.rejected, ({ rejected }) => rejected),
]

const isPeriod = (text: string): text is keyof typeof strings.trendPeriods => Object.hasOwn(strings.trendPeriods, text)

export function TrendCharts() {
  const param = useParam('period')
  const period = () => (isPeriod(param.value) ? param.value : '30d')
  const trend = useQuery<Trend>(() => `/admin/business/trend?period=${period()}`)
  return (
    <>
      <div class="beside trends">
        <h2>{strings.trendTitle}</h2>
        <Select
          label={strings.trendPeriod}
          value={period()}
          options={strings.trendPeriods}
          onSelect={(chosen) => navigate(urlWith({ period: chosen }), 'replace')}
        />
      </div>
      <QueryView query={trend} height={420}>
        {(shown) => (
          <>
            <ChartGrid trend={shown} />
            <details>
              <summary>{strings.trendTable}</summary>
              <Table
                caption={strings.trendTitle}
                columns={columnsOf(shown.step)}
                rows={trendRows(shown)}
                empty=""
                csv={`trend-by-${shown.step}`}
              />
            </details>
          </>
        )}
      </QueryView>
    </>
  )
}
