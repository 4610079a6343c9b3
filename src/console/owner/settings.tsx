// Facts about the account, and its limits.

import { groupedText, timeText } from '../ui/format.ts'
import { Meter } from '../ui/meter.tsx'
import { CopyButton, Reserved, SummaryList } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
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
            [
              strings.settingsName,
              <span class="beside" key="id">
                {owner.account} <CopyButton text={owner.account} />
              </span>,
            ],
            [strings.creditsPlan, account === null ? '' : labelOf(account.plan)],
            [strings.settingsPeriodEnds, account === null ? '' : periodEndText(account)],
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

function periodEndText({ period }: Account): string {
  const until = period?.until ?? null
  return until === null ? strings.settingsNoEnd : strings.settingsUtc(timeText(until))
}

type Limit = Account['limits'][number]

const permilleOf = ({ now, most }: Limit) => (now === null || most === null ? null : Math.round((now * 1000) / most))
const numberText = (value: number) => groupedText(String(value))

function useText({ now, most }: Limit): string {
  if (now === null) return most === null ? strings.limitsUnlimited : numberText(most)
  return most === null ? strings.limitsOpenUse(numberText(now)) : strings.limitsUse(numberText(now), numberText(most))
}

const LIMIT_COLUMNS: readonly Column<Limit>[] = [
  {
    name: strings.limitsColumnsLimit,
    text: ({ limit }) => labelOf(limit),
    render: (limit) => {
      const name = labelOf(limit.limit)
      const share = permilleOf(limit)
      return (
        <>
          {name}
          {limit.now === null && <div class="soft">{strings.limitsPerConnection}</div>}
          {share !== null && <Meter label={strings.limitsUsed(name, `${share / 10}%`)} permille={share} />}
        </>
      )
    },
  },
  { name: strings.limitsColumnsUse, text: useText, isNumber: true },
]

const LimitsSection = ({ account }: { account: Account | null }) => (
  <section>
    <h2>{strings.limitsTitle}</h2>
    <p class="soft">{strings.limitsOwnRequests}</p>
    <Reserved height={400} isLoading={account === null}>
      {account && (
        <Table caption={strings.limitsTable} columns={LIMIT_COLUMNS} rows={account.limits} empty="" csv="limits" />
      )}
    </Reserved>
  </section>
)
