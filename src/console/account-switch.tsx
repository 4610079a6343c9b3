// Switches between the accounts that a person is a member of.

import { useSignal } from '@preact/signals'
import { navigate, pageUrl } from './address.dom.ts'
import { roles, switchAccount } from './owner/team-strings.ts'
import { useQuery } from './queries.dom.ts'
import { type RequestError, request } from './request.dom.ts'
import { refreshVisitor } from './session.dom.ts'
import { ErrorNote } from './ui/parts.tsx'

interface Membership {
  readonly account: string
  readonly role: keyof typeof roles
}

export function AccountSwitch({ current }: { readonly current: string }) {
  const query = useQuery<{ readonly accounts: readonly Membership[] }>(() => '/session/accounts')
  const error = useSignal<RequestError | null>(null)
  const accounts = query.value.value?.accounts ?? []
  const change = async (account: string) => {
    const result = await request('POST', '/session/account', { account })
    error.value = result.ok ? null : result.error
    if (!result.ok) return
    navigate(pageUrl('home'))
    await refreshVisitor()
  }
  return (
    <>
      <label class="unseen" for="account">
        {switchAccount}
      </label>
      <select id="account" value={current} onChange={(event) => change(event.currentTarget.value)}>
        {accounts.map(({ account, role }) => (
          <option key={account} value={account} selected={account === current}>
            {account} · {roles[role]}
          </option>
        ))}
      </select>
      <ErrorNote error={error.value ?? query.error.value} />
    </>
  )
}
