// Who administers, with tokens of their own. Law: a new token is on the page once, and in nothing that is kept.

import { useSignal } from '@preact/signals'
import type { Answers } from '../answers.ts'
import { ask } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Curl } from '../ui/curl.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { timeText } from '../ui/when.ts'
import { timeColumn } from './cells.tsx'
import { type OrderField, OrderForm } from './order-form.tsx'

type Member = Answers['listStaff']['staff'][number]

const FIELDS: readonly OrderField[] = [
  { name: 'name', label: 'Name' },
  {
    name: 'role',
    label: 'Role',
    options: [
      ['support', 'support: reads'],
      ['billing', 'billing: reads, tops up, changes plans of accounts'],
      ['owner', 'owner: everything'],
    ],
  },
]

export function StaffPage() {
  const staff = useLoaded<Answers['listStaff']>(() => '/admin/staff')
  const doomed = useSignal<string | null>(null)
  const revoke = async () => {
    const answer = await ask('DELETE', `/admin/staff/${encodeURIComponent(doomed.value!)}`)
    if (answer.ok) staff.reload()
    return answer.ok ? null : answer.error
  }
  const columns: readonly Column<Member>[] = [
    { name: 'Name', text: ({ name }) => name },
    { name: 'Role', text: ({ role }) => role },
    timeColumn('Token made', 'created'),
    { name: 'State', text: ({ revoked }) => (revoked === null ? 'works' : `revoked ${timeText(revoked)}`) },
    {
      name: 'Actions',
      draw: ({ name, revoked }) =>
        revoked === null && (
          <button type="button" class="plain" aria-label={`Revoke ${name}`} onClick={() => (doomed.value = name)}>
            Revoke
          </button>
        ),
    },
  ]
  return (
    <>
      <h1>Staff</h1>
      <p>
        Whoever has ADMIN_TOKEN is “operator” and may do everything; all others have a token and a role of their own.
      </p>
      <OrderForm<Answers['createStaff']>
        act="Make a token"
        fields={FIELDS}
        send={(order) => ask('POST', '/admin/staff', order)}
        once={({ name, token }) => ({ what: `The token of ${name}`, secret: token })}
        onDone={staff.reload}
      />
      <TroubleNote trouble={staff.trouble.value} again={staff.reload} />
      {staff.value.value && (
        <Table
          caption="Staff"
          columns={columns}
          rows={staff.value.value.staff}
          rowKey={({ name, created }) => `${name} ${created}`}
          csv="staff"
          empty={
            <>
              <p>Nobody has a token of their own. From a terminal:</p>
              <Curl line="npm run admin -- staff add kim --role support" />
            </>
          }
        />
      )}
      {doomed.value && (
        <Confirm act="Revoke this token" name={doomed.value} onConfirm={revoke} onClose={() => (doomed.value = null)}>
          <p>{doomed.value} is signed out everywhere at once. Their lines of the audit stay.</p>
        </Confirm>
      )}
    </>
  )
}
