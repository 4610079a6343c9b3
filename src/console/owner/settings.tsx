// Facts about the account, and its limits.

import { timeText } from '../ui/format.ts'
import { Meter } from '../ui/meter.tsx'
import { Reserved, SummaryList } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import type { Account } from './responses.ts'
import type { SectionProps } from './section.ts'
import * as strings from './strings.ts'
import { roles } from './team-strings.ts'

export function Settings({ account, owner }: SectionProps) {
  return (
    <>
      <h1>{strings.pagesSettings}</h1>
      <section class="card">
        <h2>{strings.settingsAccount}</h2>
        <SummaryList
          of={[
            [strings.settingsName, owner.account],
            [strings.creditsPlan, account === null ? '' : labelOf(account.plan)],
            [
              strings.settingsSignedIn,
              owner.member_role === null ? strings.keysKinds[owner.kind] : roles[owner.member_role],
            ],
            [strings.settingsSessionEnds, strings.settingsUtc(timeText(owner.expires))],
          ]}
        />
      </section>
      <LimitsSection account={account} />
    </>
  )
}

type Limit = Account['limits'][number]

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
    isMinor: true,
    render: (limit) => {
      const share = permilleOf(limit)
      const label = strings.limitsUsed(labelOf(limit.limit), shareText(limit))
      return share === null ? '' : <Meter label={label} permille={share} />
    },
  },
]

const LimitsSection = ({ account }: { account: Account | null }) => (
  <section>
    <h2>{strings.limitsTitle}</h2>
    <Reserved height={280} isLoading={account === null}>
      {account && (
        <>
          <Table caption={strings.limitsTable} columns={LIMIT_COLUMNS} rows={account.limits} empty="" csv="limits" />
          <p class="soft">{strings.limitsOwnRequests}</p>
        </>
      )}
    </Reserved>
  </section>
)
