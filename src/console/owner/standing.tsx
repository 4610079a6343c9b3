// Credits left, how they went down and when they end, how close each limit is; what was used per UTC day, and on what.

import { addressWith, go, useParam } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { Bars } from '../ui/bars.tsx'
import { Choice } from '../ui/form.tsx'
import { Answered, Curl, Figures, infoLine } from '../ui/parts.tsx'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { dayText, groupedText, microText, timeText } from '../ui/text.ts'
import type { Account, BalanceDay, Usage } from './answers.ts'
import { burnLine } from './burn-line.ts'
import { spending, useOwn } from './own.dom.ts'
import { dailyColumns, forecastText, microOf } from './owner-words.ts'

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
          options={{ 1: 'a month', 3: '3 months', 6: '6 months', 12: 'a year' }}
          onChoose={choose('duration')}
        />
        <Choice
          label="Days split"
          value={stack()}
          options={{ type: 'by type', key: 'by key' }}
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

const LIMITS: readonly Column<Limit>[] = [
  { name: 'Limit', text: ({ limit }) => limit },
  amountColumn('Now', ({ now }) => now ?? 'each socket'),
  amountColumn('At most', ({ most }) => most ?? 'no limit'),
  {
    name: 'Used',
    text: shareText,
    isNumber: true,
    draw: (limit) => {
      const share = permilleOf(limit)
      return share === null ? '' : <Meter label={`${limit.limit}: ${shareText(limit)} used`} permille={share} />
    },
  },
]

export function Standing({ account }: { account: Account }) {
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
      <BurnDown account={account} />
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
        columns={LIMITS}
        rows={limits}
        empty={<Curl line={`curl -s ${location.origin}/platform/account/ -H "Authorization: Bearer $WEIR_KEY"`} />}
        csv="limits"
      />
    </section>
  )
}

const SIZE = { width: 600, height: 100 }

const COLUMNS: readonly Column<BalanceDay>[] = [
  { name: 'Day, UTC', text: ({ date }) => date },
  amountColumn('Opening', ({ opening }) => opening),
  amountColumn('Granted', ({ granted }) => granted),
  amountColumn('Expired', ({ expired }) => expired),
  amountColumn('Charged', ({ charged }) => charged),
  amountColumn('Closing', ({ closing }) => closing),
]

function BurnDown({ account }: { account: Account }) {
  const balances = useOwn<Answers['ownBalances']>(() => '/platform/balances/')
  return <Answered of={balances}>{({ days }) => days.length > 0 && <Picture days={days} account={account} />}</Answered>
}

function Picture({ days, account }: { days: readonly BalanceDay[]; account: Account }) {
  const { past, ahead, nowX, untilMs, most } = burnLine(days, account, Date.now(), SIZE)
  const until = dayText(untilMs)
  const since = days[0]?.date
  const label = `Credits left by day from ${since} UTC, ${groupedText(account.balance)} now${ahead === null ? '' : `, and as they go on to ${until}`}`
  return (
    <figure class="burn">
      <svg role="img" aria-label={label} viewBox={`0 -4 ${SIZE.width} ${SIZE.height + 8}`} preserveAspectRatio="none">
        {ahead !== null && <path class="now" d={`M${nowX} 0V${SIZE.height}`} />}
        <path class="past" d={past} />
        {ahead !== null && <path class="ahead" d={ahead} />}
      </svg>
      <figcaption>
        <span>{since}</span>
        <span>
          credits left, up to {microText(most)}
          {ahead !== null && '; dashed: as they go on'}
        </span>
        <span>{until}</span>
      </figcaption>
      <details>
        <summary>Day by day</summary>
        <Table caption="The balance day by day" columns={COLUMNS} rows={[...days].reverse()} csv="balances" empty="" />
      </details>
    </figure>
  )
}
