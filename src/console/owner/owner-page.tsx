// The one page of whoever owns keys: how the account stands, what it used, its keys, refusals, streams, webhook and invoices.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { SessionUser } from '../../accounts/sessions/session.ts'
import { refreshVisitor } from '../session.dom.ts'
import { Shell } from '../shell.tsx'
import { ErrorNote } from '../ui/parts.tsx'
import { heartbeat, refreshAll, spendVersion, useAccountQuery, useRefreshOnReturn } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import { CreditStatus, LimitsSection, UsageSection } from './credits-and-usage.tsx'
import { Invoices, TopUp } from './invoices.tsx'
import { Keys } from './keys.tsx'
import { RefusalList, StreamList, WebhookSection } from './lists.tsx'
import type { Account } from './responses.ts'

export function OwnerPage({ who }: { who: Extract<SessionUser, { role: 'owner' }> }) {
  useRefreshOnReturn()
  const account = useAccountQuery<Account>(() => {
    void heartbeat.value
    return '/platform/account/'
  })
  const value = account.value.value
  // What was given to the account changes where credits came or expired: by that, every section has changed.
  const given = value === null ? null : String(microOf(value.balance) + microOf(value.spent))
  const knownGiven = useRef(given)
  useEffect(() => {
    if (knownGiven.current !== null && knownGiven.current !== given) refreshAll()
    knownGiven.current = given
  }, [given])
  const spent = value?.spent ?? null
  useEffect(() => {
    if (spent !== null) spendVersion.value++
  }, [spent])
  useSignalEffect(() => {
    const answered = account.value.value
    if (answered !== null && answered.account !== who.account) void refreshVisitor()
  })
  const firstPlan = useRef<string | null>(null)
  if (value !== null) firstPlan.current ??= value.plan
  const before = firstPlan.current
  return (
    <Shell visitor={who} pages={[['account', 'Account']]} current="account">
      <div class="screen">
        <h1>{who.account}</h1>
        <ErrorNote trouble={account.error.value} again={account.reload} />
        {value !== null && before !== null && before !== value.plan && (
          <p class="note" role="status">
            The plan of this account was changed from {before} to {value.plan} while this page was open: limits and
            credits below are those of {value.plan}.
          </p>
        )}
        {value && <CreditStatus account={value} />}
        <UsageSection />
        <Keys account={value} />
        {value && <LimitsSection account={value} />}
        <RefusalList />
        <StreamList />
        <WebhookSection account={value} />
      </div>
      <TopUp account={value} />
      <Invoices />
    </Shell>
  )
}
