// Accounts, and the way to each of them.

import { go } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { ask } from '../ask.dom.ts'
import { Curl } from '../ui/curl.tsx'
import { accountColumn, creditsColumn, lastUsedColumn, pageAddress, timeColumn } from './cells.tsx'
import { ListPage, useList } from './list-page.tsx'
import { OrderForm } from './order-form.tsx'
import { usePlanNames } from './plan-names.dom.ts'
import { may, type StaffRole } from './rights.ts'

const NAME = {
  pattern: '[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}',
  title: 'letters, digits, _ and -, a letter or digit first, at most 64',
}
/** The smallest is no surprise to whoever does not choose. */
const trialFirst = (a: string, b: string) => Number(b === 'trial') - Number(a === 'trial')

export function AccountsPage({ role }: { role: StaffRole }) {
  const plans = usePlanNames()
  const fields = [
    { name: 'search', label: 'Part of the name' },
    { name: 'plan', label: 'Plan', options: plans },
  ]
  return (
    <ListPage<Answers['listAccounts']['accounts'][number]>
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
        lastUsedColumn(),
        timeColumn('Made', 'created'),
      ]}
      empty={
        <>
          <p>No account is like this. Make one:</p>
          <Curl line="npm run admin -- account create acme --plan trial" />
        </>
      }
    >
      {may(role, 'owner') && plans.length > 0 && (
        <OrderForm<Answers['ensureAccount']>
          act="Make the account"
          fields={[
            { name: 'id', label: 'New account, such as acme', ...NAME },
            { name: 'plan', label: 'Its plan', options: plans.toSorted(trialFirst).map((plan) => [plan, plan]) },
          ]}
          send={({ id = '', plan }) => ask('PUT', `/admin/accounts/${encodeURIComponent(id)}`, { plan })}
          onDone={({ account }) => go(pageAddress('account', { id: account }))}
        />
      )}
    </ListPage>
  )
}
