// The one page of whoever owns keys: how the account stands, what it used, its keys, refusals, streams, webhook and invoices.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Visitor } from '../../accounts/sessions/session.ts'
import { Shell } from '../shell.tsx'
import { TroubleNote } from '../ui/parts.tsx'
import { look } from '../visit.dom.ts'
import type { Account } from './answers.ts'
import { Invoices, TopUp } from './invoices.tsx'
import { Keys } from './keys.tsx'
import { RefusalList, StreamList, WebhookSection } from './lists.tsx'
import { askAgain, pulse, spending, useOwn, useReturns } from './own.dom.ts'
import { microOf } from './owner-words.ts'
import { LimitsSection, Standing, UsageSection } from './standing.tsx'

export function OwnerPage({ who }: { who: Extract<Visitor, { role: 'owner' }> }) {
  useReturns()
  const account = useOwn<Account>(() => {
    void pulse.value
    return '/platform/account/'
  })
  const value = account.value.value
  // What was given to the account changes where credits came or expired: by that, every section has changed.
  const given = value === null ? null : String(microOf(value.balance) + microOf(value.spent))
  const knownGiven = useRef(given)
  useEffect(() => {
    if (knownGiven.current !== null && knownGiven.current !== given) askAgain()
    knownGiven.current = given
  }, [given])
  const spent = value?.spent ?? null
  useEffect(() => {
    if (spent !== null) spending.value++
  }, [spent])
  useSignalEffect(() => {
    const answered = account.value.value
    if (answered !== null && answered.account !== who.account) void look()
  })
  const firstPlan = useRef<string | null>(null)
  if (value !== null) firstPlan.current ??= value.plan
  const before = firstPlan.current
  return (
    <Shell who={who} pages={[['account', 'Account']]} here="account">
      <div class="screen">
        <h1>{who.account}</h1>
        <TroubleNote trouble={account.trouble.value} again={account.reload} />
        {value !== null && before !== null && before !== value.plan && (
          <p class="note" role="status">
            The plan of this account was changed from {before} to {value.plan} while this page was open: limits and
            credits below are those of {value.plan}.
          </p>
        )}
        {value && <Standing account={value} />}
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
