// Accounts, and the way to each of them.

import { Curl } from '../ui/curl.tsx'
import { accountColumn, creditsColumn, timeColumn } from './cells.tsx'
import { ListPage, useList } from './list-page.tsx'
import { usePlanNames } from './plan-names.dom.ts'

interface Account {
  readonly account: string
  readonly plan: string
  readonly created: number
  readonly keys: number
  readonly last_used: number | null
  readonly balance: string | null
}

export function AccountsPage() {
  const plans = usePlanNames()
  const fields = [
    { name: 'search', label: 'Part of the name' },
    { name: 'plan', label: 'Plan', options: plans },
  ]
  return (
    <ListPage<Account>
      caption="Accounts"
      fields={fields}
      paged={useList('accounts', 'after', 'accounts', fields)}
      rowKey={({ account }) => account}
      csv="accounts"
      columns={[
        accountColumn(),
        { name: 'Plan', text: ({ plan }) => plan },
        creditsColumn('Balance, credits', 'balance'),
        { name: 'Keys', text: ({ keys }) => String(keys), isNumber: true },
        timeColumn('Last used', 'last_used', 'never'),
        timeColumn('Made', 'created'),
      ]}
      empty={
        <>
          <p>No account is like this. Make one:</p>
          <Curl line="npm run admin -- account create acme --plan trial" />
        </>
      }
    />
  )
}
