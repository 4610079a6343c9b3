// The page of an account owner: credits, usage, keys, limits, rejected requests, streams, webhook and invoices.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { SessionUser } from '../../accounts/sessions/session.ts'
import { refreshVisitor } from '../session.dom.ts'
import { Shell } from '../shell.tsx'
import { ErrorNote } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { heartbeat, refreshAll, spendVersion, useAccountQuery, useRefreshOnReturn } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import { CreditStatus, LimitsSection, UsageSection } from './credits-and-usage.tsx'
import { Invoices, TopUp } from './invoices.tsx'
import { Keys } from './keys.tsx'
import { RefusalList, StreamList, WebhookSection } from './lists.tsx'
import type { Account } from './responses.ts'
import * as strings from './strings.ts'

export function OwnerPage({ visitor }: { visitor: Extract<SessionUser, { role: 'owner' }> }) {
  useRefreshOnReturn()
  const account = useAccountQuery<Account>(() => {
    void heartbeat.value
    return '/platform/account/'
  })
  const value = account.value.value
  // Balance plus spent credits changes when credits arrive or expire, which affects every section.
  const granted = value === null ? null : String(microOf(value.balance) + microOf(value.spent))
  const knownGranted = useRef(granted)
  useEffect(() => {
    if (knownGranted.current !== null && knownGranted.current !== granted) refreshAll()
    knownGranted.current = granted
  }, [granted])
  const spent = value?.spent ?? null
  useEffect(() => {
    if (spent !== null) spendVersion.value++
  }, [spent])
  useSignalEffect(() => {
    const loaded = account.value.value
    if (loaded !== null && loaded.account !== visitor.account) void refreshVisitor()
  })
  const firstPlan = useRef<string | null>(null)
  if (value !== null) firstPlan.current ??= value.plan
  const before = firstPlan.current
  return (
    <Shell visitor={visitor} pages={[['account', strings.accountPage]]} current="account">
      <div class="screen">
        <h1>{visitor.account}</h1>
        <ErrorNote error={account.error.value} onRetry={account.reload} />
        {value !== null && before !== null && before !== value.plan && (
          <p class="note" role="status">
            {strings.accountPlanChanged(labelOf(before), labelOf(value.plan))}
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
