// Credits left, how they went down and when they end, and how close each limit is.

import type { Answers } from '../answers.ts'
import { Answered, Curl, Figures } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { dayText, groupedText, microText, timeText } from '../ui/text.ts'
import type { Account, BalanceDay } from './answers.ts'
import { burnLine } from './burn-line.ts'
import { useOwn } from './own.dom.ts'
import { forecastText, microOf } from './owner-words.ts'

type Limit = Account['limits'][number]

/** How much of a whole is used, as a bar that is named. */
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
