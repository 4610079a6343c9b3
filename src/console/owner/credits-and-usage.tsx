// Credits left, how they went down and when they end, how close each limit is; what was used per UTC day, and on what.

import { navigate, urlWith, useParam } from '../address.dom.ts'
import type { Responses } from '../responses.ts'
import { Bars } from '../ui/bars.tsx'
import { Select } from '../ui/form.tsx'
import { creditsText, dayText, groupedText, timeText } from '../ui/format.ts'
import { Figures, infoCurl, QueryView, Snippet } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { spendVersion, useAccountQuery } from './account-data.dom.ts'
import { forecastText, microOf, usageColumns } from './account-view.ts'
import { burnDown } from './burn-down.ts'
import type { Account, BalanceDay, Usage } from './responses.ts'

type ByKey = Usage['by_key'][number]
type ByType = Usage['by_type'][number]
type UsageSums = Pick<ByKey, 'credits' | 'calls' | 'stream_minutes' | 'pipeline_rows'>

const USAGE_COLUMNS: readonly Column<UsageSums>[] = [
  numberColumn('Credits', (row) => creditsText(microOf(row.credits))),
  amountColumn('Calls', (row) => row.calls),
  amountColumn('Minutes', (row) => row.stream_minutes),
  amountColumn('Rows', (row) => row.pipeline_rows),
]
const BY_KEY_COLUMNS: readonly Column<ByKey>[] = [
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Label', text: ({ label }) => label },
  ...USAGE_COLUMNS,
]
const BY_TYPE_COLUMNS: readonly Column<ByType>[] = [
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  ...USAGE_COLUMNS,
]

const BY_DAY_COLUMNS: readonly Column<{ date: string; part: string; label: string; credits: string }>[] = [
  { name: 'Day, UTC', text: ({ date }) => date },
  { name: 'For', text: ({ part }) => part || 'others' },
  { name: 'Label', text: ({ label }) => label },
  numberColumn('Credits', (row) => creditsText(microOf(row.credits))),
]

const NoUsage = () => (
  <>
    <p>Nothing was used in these days. A first call:</p>
    <Snippet line={infoCurl('{"type":"allMids"}')} />
  </>
)

export function UsageSection() {
  const split = useParam('stack')
  const duration = useParam('duration')
  const stack = () => (split.value === 'key' ? 'key' : 'type')
  const months = () => duration.value || '1'
  const usage = useAccountQuery<Usage>(() => {
    void spendVersion.value
    return `/platform/usage/?stack=${stack()}&duration=${encodeURIComponent(months())}`
  })
  const value = usage.value.value
  const choose = (name: string) => (chosen: string) => navigate(urlWith({ [name]: chosen }))
  return (
    <section aria-busy={usage.isLoading.value}>
      <h2>Usage{value && `, ${value.period.from} to ${value.period.to} UTC`}</h2>
      <div class="beside">
        <Select
          label="Months"
          value={months()}
          options={{ 1: 'a month', 3: '3 months', 6: '6 months', 12: 'a year' }}
          onSelect={choose('duration')}
        />
        <Select
          label="Days split"
          value={stack()}
          options={{ type: 'by type', key: 'by key' }}
          onSelect={choose('stack')}
        />
      </div>
      <QueryView query={usage}>{(used) => <UsageTables used={used} by={stack()} />}</QueryView>
    </section>
  )
}

function UsageTables({ used, by }: { used: Usage; by: string }) {
  const { period, by_day: byDay, by_key: byKey, by_type: byType } = used
  const { columns, parts } = usageColumns(used)
  const days = byDay.flatMap(({ date, parts: own = [] }) => own.map((part) => ({ date, ...part })))
  return (
    <>
      {parts.length > 0 && (
        <Bars
          label={`Credits a day, ${period.from} to ${period.to} UTC, by ${by}`}
          columns={columns}
          parts={parts}
          valueText={(micro) => `${creditsText(micro)} credits`}
        />
      )}
      {days.length > 0 && (
        <details>
          <summary>Day by day</summary>
          <Table
            caption={`Use by day and ${by}`}
            columns={BY_DAY_COLUMNS}
            rows={days}
            empty=""
            csv={`usage-by-day-${period.from}-${period.to}`}
          />
        </details>
      )}
      <h3>What keys used</h3>
      <Table caption="Use by key" columns={BY_KEY_COLUMNS} rows={byKey} empty={<NoUsage />} csv="usage-by-key" />
      <h3>What it was used for</h3>
      <Table
        caption="Use by product and type"
        columns={BY_TYPE_COLUMNS}
        rows={byType}
        empty="Nothing in these days."
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
  return share === null ? '' : `${share / 10} %`
}

const LIMIT_COLUMNS: readonly Column<Limit>[] = [
  { name: 'Limit', text: ({ limit }) => limit },
  amountColumn('Now', ({ now }) => now ?? 'each socket'),
  amountColumn('At most', ({ most }) => most ?? 'no limit'),
  {
    name: 'Used',
    text: shareText,
    isNumber: true,
    render: (limit) => {
      const share = permilleOf(limit)
      return share === null ? '' : <Meter label={`${limit.limit}: ${shareText(limit)} used`} permille={share} />
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
          { name: 'Credits left', value: groupedText(balance) },
          { name: 'Spent a day, mean of seven', value: groupedText(perDay) },
          { name: 'Spent since the account was made', value: groupedText(spent) },
          { name: 'Plan', value: plan },
        ]}
      />
      <p class="note" role="status">
        {forecastText(account, Date.now())}
      </p>
      <BurnDownSection account={account} />
      {period !== null && given > 0n && (
        <>
          <Meter label={`${used / 10} % of the plan’s credits of this period are used`} permille={used} />
          <p class="soft">
            {groupedText(ofPlan)} of {groupedText(period.credits)} credits of the plan are left; the period began{' '}
            {timeText(period.since)} UTC
            {period.until === null
              ? ' and has no end.'
              : ` and ends ${timeText(period.until)} UTC, and with it what is left of them${
                  microOf(period.renews_with) > 0n ? `; then there are ${groupedText(period.renews_with)} more.` : '.'
                }`}
          </p>
        </>
      )}
    </>
  )
}

export function LimitsSection({ account: { limits } }: { account: Account }) {
  return (
    <section>
      <h2>Limits</h2>
      <Table
        caption="Present use against each limit"
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
  { name: 'Day, UTC', text: ({ date }) => date },
  amountColumn('Opening', ({ opening }) => opening),
  amountColumn('Granted', ({ granted }) => granted),
  amountColumn('Expired', ({ expired }) => expired),
  amountColumn('Charged', ({ charged }) => charged),
  amountColumn('Closing', ({ closing }) => closing),
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
  const label = `Credits left by day from ${since} UTC, ${groupedText(account.balance)} now${forecast === null ? '' : `, and as they go on to ${until}`}`
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
          credits left, up to {creditsText(maxMicro)}
          {forecast !== null && '; dashed: as they go on'}
        </span>
        <span>{until}</span>
      </figcaption>
      <details>
        <summary>Day by day</summary>
        <Table
          caption="The balance day by day"
          columns={BALANCE_COLUMNS}
          rows={[...days].reverse()}
          csv="balances"
          empty=""
        />
      </details>
    </figure>
  )
}
