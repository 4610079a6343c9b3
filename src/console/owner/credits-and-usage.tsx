// Credit balance with burn-down and forecast, limits, and usage per UTC day, key and endpoint.

import { navigate, urlWith, useParam } from '../address.dom.ts'
import type { Responses } from '../responses.ts'
import { Bars } from '../ui/bars.tsx'
import { Select } from '../ui/form.tsx'
import { creditsText, dayText, groupedText, timeText } from '../ui/format.ts'
import { Figures, infoCurl, QueryView, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { spendVersion, useAccountQuery } from './account-data.dom.ts'
import { forecastText, microOf, usageColumns } from './account-view.ts'
import { burnDown } from './burn-down.ts'
import type { Account, BalanceDay, Usage } from './responses.ts'
import * as strings from './strings.ts'

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
    <section aria-busy={usage.isLoading.value}>
      <h2>
        {strings.usageTitle}
        {value && strings.usagePeriod(value.period.from, value.period.to)}
      </h2>
      <div class="beside">
        <Select
          label={strings.usageDuration}
          value={months()}
          options={strings.usageDurations}
          onSelect={choose('duration')}
        />
        <Select label={strings.usageGroup} value={stack()} options={strings.usageGroups} onSelect={choose('stack')} />
      </div>
      <QueryView query={usage}>{(used) => <UsageTables used={used} by={stack()} />}</QueryView>
    </section>
  )
}

function UsageTables({ used, by }: { used: Usage; by: 'key' | 'type' }) {
  const { period, by_day: byDay, by_key: byKey, by_type: byType } = used
  const { columns, parts } = usageColumns(used)
  const days = byDay.flatMap(({ date, parts: own = [] }) => own.map((part) => ({ date, ...part })))
  return (
    <>
      {parts.length > 0 && (
        <Bars
          label={strings.usageChart(period.from, period.to, strings.usageGroups[by])}
          columns={columns}
          parts={parts}
          valueText={(micro) => strings.usageCredits(creditsText(micro))}
        />
      )}
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
      <h3>{strings.usageByKey}</h3>
      <Table
        caption={strings.usageByKey}
        columns={BY_KEY_COLUMNS}
        rows={byKey}
        empty={<NoUsage />}
        csv="usage-by-key"
      />
      <h3>{strings.usageByType}</h3>
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

type Limit = Account['limits'][number]

function Meter({ label, permille }: { label: string; permille: number }) {
  const width = Math.max(0, Math.min(1000, permille))
  return (
    <svg class="meter" role="img" aria-label={label} viewBox="0 0 1000 10" preserveAspectRatio="none">
      <rect class="track" width="1000" height="10" />
      <rect class={width >= 900 ? 'high' : width >= 700 ? 'near' : 'fine'} width={width} height="10" />
    </svg>
  )
}

const permilleOf = ({ now, most }: Limit) => (now === null || most === null ? null : Math.round((now * 1000) / most))
const shareText = (limit: Limit) => {
  const share = permilleOf(limit)
  return share === null ? '' : `${share / 10}%`
}

const LIMIT_COLUMNS: readonly Column<Limit>[] = [
  { name: strings.limitsColumnsLimit, text: ({ limit }) => labelOf(limit) },
  amountColumn(strings.limitsColumnsNow, ({ now }) => now ?? strings.limitsPerConnection),
  amountColumn(strings.limitsColumnsMax, ({ most }) => most ?? strings.limitsUnlimited),
  {
    name: strings.limitsColumnsUsed,
    text: shareText,
    isNumber: true,
    render: (limit) => {
      const share = permilleOf(limit)
      return share === null ? (
        ''
      ) : (
        <Meter label={strings.limitsUsed(labelOf(limit.limit), shareText(limit))} permille={share} />
      )
    },
  },
]

export function CreditStatus({ account }: { account: Account }) {
  const { balance, plan, period, credits_a_day: perDay, of_plan: ofPlan, spent } = account
  const given = period === null ? 0n : microOf(period.credits)
  const left = microOf(ofPlan)
  const used = given === 0n ? 0 : Number(((given - left) * 1000n) / given)
  return (
    <>
      <Figures
        figures={[
          { name: strings.creditsBalance, value: groupedText(balance) },
          { name: strings.creditsDaily, value: groupedText(perDay) },
          { name: strings.creditsTotal, value: groupedText(spent) },
          { name: strings.creditsPlan, value: labelOf(plan) },
        ]}
      />
      <p class="note" role="status">
        {forecastText(account, Date.now())}
      </p>
      <BurnDownSection account={account} />
      {period !== null && given > 0n && (
        <>
          <Meter label={strings.creditsPlanUsed(used / 10)} permille={used} />
          <p class="soft">
            {strings.creditsPlanLeft(groupedText(ofPlan), groupedText(period.credits))}
            {period.until === null
              ? strings.creditsNoEnd(timeText(period.since))
              : strings.creditsPeriod(timeText(period.since), timeText(period.until))}
            {period.until !== null &&
              microOf(period.renews_with) > 0n &&
              strings.creditsRenewal(groupedText(period.renews_with))}
          </p>
        </>
      )}
    </>
  )
}

export function LimitsSection({ account: { limits } }: { account: Account }) {
  return (
    <section>
      <h2>{strings.limitsTitle}</h2>
      <Table
        caption={strings.limitsTable}
        columns={LIMIT_COLUMNS}
        rows={limits}
        empty={<Snippet line={`curl -s ${location.origin}/platform/account/ -H "Authorization: Bearer $WEIR_KEY"`} />}
        csv="limits"
      />
    </section>
  )
}

const SIZE = { width: 600, height: 100 }

const BALANCE_COLUMNS: readonly Column<BalanceDay>[] = [
  { name: strings.creditsColumnsDay, text: ({ date }) => date },
  amountColumn(strings.creditsColumnsOpening, ({ opening }) => opening),
  amountColumn(strings.creditsColumnsGranted, ({ granted }) => granted),
  amountColumn(strings.creditsColumnsExpired, ({ expired }) => expired),
  amountColumn(strings.creditsColumnsCharged, ({ charged }) => charged),
  amountColumn(strings.creditsColumnsClosing, ({ closing }) => closing),
]

function BurnDownSection({ account }: { account: Account }) {
  const balances = useAccountQuery<Responses['ownBalances']>(() => '/platform/balances/')
  return (
    <QueryView query={balances}>
      {({ days }) => days.length > 0 && <BurnDownChart days={days} account={account} />}
    </QueryView>
  )
}

function BurnDownChart({ days, account }: { days: readonly BalanceDay[]; account: Account }) {
  const { history, forecast, nowX, endMs, maxMicro } = burnDown(days, account, Date.now(), SIZE)
  const until = dayText(endMs)
  const since = days[0]?.date
  const label = `${strings.creditsChart(since, groupedText(account.balance))}${forecast === null ? '' : strings.creditsChartForecast(until)}`
  return (
    <figure class="burn">
      <svg role="img" aria-label={label} viewBox={`0 -4 ${SIZE.width} ${SIZE.height + 8}`} preserveAspectRatio="none">
        {forecast !== null && <path class="now" d={`M${nowX} 0V${SIZE.height}`} />}
        <path class="past" d={history} />
        {forecast !== null && <path class="ahead" d={forecast} />}
      </svg>
      <figcaption>
        <span>{since}</span>
        <span>
          {strings.creditsCaption(creditsText(maxMicro))}
          {forecast !== null && strings.creditsCaptionForecast}
        </span>
        <span>{until}</span>
      </figcaption>
      <details>
        <summary>{strings.creditsShowDays}</summary>
        <Table
          caption={strings.creditsTable}
          columns={BALANCE_COLUMNS}
          rows={[...days].reverse()}
          csv="balances"
          empty=""
        />
      </details>
    </figure>
  )
}
