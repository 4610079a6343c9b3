// How the credits went down, and where that leads, with the days' numbers beneath.

import type { Answers } from '../answers.ts'
import { groupedText, microText } from '../ui/amounts.ts'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { dayText } from '../ui/when.ts'
import type { Account, BalanceDay } from './answers.ts'
import { burnLine } from './burn-line.ts'
import { useOwn } from './own.dom.ts'

const SIZE = { width: 600, height: 100 }

const amount = (name: string, of: (row: BalanceDay) => string): Column<BalanceDay> => ({
  name,
  text: (row) => groupedText(of(row)),
  isNumber: true,
})
const COLUMNS: readonly Column<BalanceDay>[] = [
  { name: 'Day, UTC', text: ({ date }) => date },
  amount('Opening', ({ opening }) => opening),
  amount('Granted', ({ granted }) => granted),
  amount('Expired', ({ expired }) => expired),
  amount('Charged', ({ charged }) => charged),
  amount('Closing', ({ closing }) => closing),
]

export function BurnDown({ account }: { account: Account }) {
  const balances = useOwn<Answers['ownBalances']>(() => '/platform/balances/')
  const days = balances.value.value?.days ?? []
  return (
    <>
      <TroubleNote trouble={balances.trouble.value} again={balances.reload} />
      {days.length > 0 && <Picture days={days} account={account} />}
    </>
  )
}

function Picture({ days, account }: { days: readonly BalanceDay[]; account: Account }) {
  const { past, ahead, nowX, untilMs, most } = burnLine(days, account, Date.now(), SIZE)
  const until = dayText(untilMs)
  const label = `Credits left by day from ${days[0]!.date} UTC, ${groupedText(account.balance)} now${ahead === null ? '' : `, and as they go on to ${until}`}`
  return (
    <figure class="burn">
      <svg role="img" aria-label={label} viewBox={`0 -4 ${SIZE.width} ${SIZE.height + 8}`} preserveAspectRatio="none">
        {ahead !== null && <path class="now" d={`M${nowX} 0V${SIZE.height}`} />}
        <path class="past" d={past} />
        {ahead !== null && <path class="ahead" d={ahead} />}
      </svg>
      <figcaption>
        <span>{days[0]!.date}</span>
        <span>
          credits left, up to {microText(most)}
          {ahead !== null && '; dashed: as they go on'}
        </span>
        <span>{until}</span>
      </figcaption>
      <details>
        <summary>Day by day</summary>
        <Table
          caption="The balance day by day"
          columns={COLUMNS}
          rows={[...days].reverse()}
          rowKey={({ date }) => date}
          csv="balances"
          empty=""
        />
      </details>
    </figure>
  )
}
