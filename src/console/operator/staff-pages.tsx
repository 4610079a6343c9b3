// Who administers, with tokens of their own; who did what, and what came of it. Invariant: a new token is on the page once, and in nothing
// that is kept.

import type { Answers } from '../answers.ts'
import { ask, change } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Act } from '../ui/dialog.tsx'
import { type FormField, OrderForm } from '../ui/form.tsx'
import { Answered, Curl } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { timeText } from '../ui/text.ts'
import { accountColumn, ListPage, timeColumn, useList } from './parts.tsx'

export type AuditLine = Answers['listAudit']['audit'][number]

const outcome = ({ status }: AuditLine) => (status === null ? 'not known' : String(status))

export const AUDIT_COLUMNS: readonly Column<AuditLine>[] = [
  timeColumn('At', 'at'),
  { name: 'Who', text: ({ actor }) => actor },
  { name: 'Role', text: ({ role }) => role },
  { name: 'Did', text: ({ action }) => action },
  { name: 'To', text: ({ target }) => target },
  accountColumn(),
  {
    name: 'Came of it',
    isNumber: true,
    text: outcome,
    draw: (line) => <span class={line.status !== null && line.status < 300 ? 'good' : 'bad'}>{outcome(line)}</span>,
  },
  { name: 'Sent', text: ({ sent }) => sent, draw: ({ sent }) => <span title={sent}>{sent}</span> },
  { name: 'Request', text: ({ request_id: id }) => id },
]

const AUDIT_FIELDS = [
  { name: 'actor', label: 'Who' },
  { name: 'action', label: 'Did, such as revokeKey' },
  { name: 'account', label: 'Account' },
  { name: 'from', label: 'First day (UTC)', type: 'date' },
  { name: 'to', label: 'Last day (UTC)', type: 'date' },
] as const

export function AuditPage() {
  return (
    <ListPage
      caption="Audit"
      fields={AUDIT_FIELDS}
      paged={useList<AuditLine>('audit', 'before', 'audit', AUDIT_FIELDS)}
      columns={AUDIT_COLUMNS}
      empty="Nothing like this was done."
      csv="audit"
    >
      <p>Everything but reading that staff did, or tried: written down before it is done, and never changed.</p>
    </ListPage>
  )
}

type Member = Answers['listStaff']['staff'][number]

const FIELDS: readonly FormField[] = [
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
  const revoke = (name: string) => change('DELETE', `/admin/staff/${encodeURIComponent(name)}`, undefined, staff.reload)
  const columns: readonly Column<Member>[] = [
    { name: 'Name', text: ({ name }) => name },
    { name: 'Role', text: ({ role }) => role },
    timeColumn('Token made', 'created'),
    { name: 'State', text: ({ revoked }) => (revoked === null ? 'works' : `revoked ${timeText(revoked)}`) },
    {
      name: 'Actions',
      draw: ({ name, revoked }) =>
        revoked === null && (
          <Act
            text="Revoke"
            label={`Revoke ${name}`}
            act="Revoke this token"
            name={name}
            onConfirm={() => revoke(name)}
          >
            <p>{name} is signed out everywhere at once. Their lines of the audit stay.</p>
          </Act>
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
      <Answered of={staff}>
        {(value) => (
          <Table
            caption="Staff"
            columns={columns}
            rows={value.staff}
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
      </Answered>
    </>
  )
}
