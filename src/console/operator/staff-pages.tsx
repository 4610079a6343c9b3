// Who administers, with tokens of their own; who did what, and what came of it; and the search. Invariants: a new token is on
// the page once, and in nothing that is kept; of a key only what may be shown reaches the address.

import { go, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { ask, change } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Act } from '../ui/dialog.tsx'
import { type FormField, OrderForm } from '../ui/form.tsx'
import { Answered, Curl, TroubleNote } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { timeText } from '../ui/text.ts'
import { accountColumn, ListPage, pageAddress, timeColumn, useList } from './parts.tsx'

export type AuditLine = Answers['listAudit']['audit'][number]

const outcome = ({ status }: AuditLine) => (status === null ? 'not known' : String(status))

const AUDIT_COLUMNS: readonly Column<AuditLine>[] = [
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
    options: {
      support: 'support: reads',
      billing: 'billing: reads, tops up, changes plans of accounts',
      owner: 'owner: everything',
    },
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

const SHOWN = 12

const shownPart = (text: string): string => text.trim().replace(/\bcq[tso]_\w+/g, (key) => key.slice(0, SHOWN))

/** The field that stands above every page. */
export function SearchField() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const q = shownPart(String(new FormData(form).get('q') ?? ''))
    if (q !== '') go(pageAddress('search', { q }))
    form.reset()
  }
  return (
    <form class="search" onSubmit={submit}>
      <input
        name="q"
        type="search"
        aria-label="Search"
        placeholder="Account, first characters of a key, request id"
        autocomplete="off"
        maxLength={100}
      />
    </form>
  )
}

export function SearchPage() {
  const q = params.value.get('q') ?? ''
  const found = useLoaded<Answers['search']>(() => {
    const asked = params.value.get('q') ?? ''
    return asked === '' ? null : `/admin/search?q=${encodeURIComponent(asked)}`
  })
  const { accounts = [], keys = [], refusals = [], audit = [] } = (q !== '' && found.value.value) || {}
  const isNothing = accounts.length + keys.length + refusals.length + audit.length === 0
  return (
    <>
      <h1>{q === '' ? 'Search' : `Found for “${q}”`}</h1>
      <TroubleNote trouble={found.trouble.value} again={found.reload} />
      {q !== '' && found.value.value && isNothing && (
        <p class="empty">
          Nothing: look for a part of an account’s name, the first characters of a key, or a whole request id.
        </p>
      )}
      <Found title="Accounts" rows={accounts} columns={ACCOUNTS} />
      <Found title="Keys" rows={keys} columns={KEYS} />
      <Found title="Refused" rows={refusals} columns={REFUSALS} />
      <Found title="Done by staff" rows={audit} columns={AUDIT_COLUMNS} />
    </>
  )
}

type Rows = Answers['search']
const ACCOUNTS: readonly Column<Rows['accounts'][number]>[] = [
  accountColumn(),
  { name: 'Plan', text: ({ plan }) => plan },
]
const KEYS: readonly Column<Rows['keys'][number]>[] = [
  { name: 'Key', text: ({ prefix }) => prefix },
  accountColumn(),
  { name: 'Label', text: ({ label }) => label },
  timeColumn('Revoked', 'revoked', 'no'),
]
const REFUSALS: readonly Column<Rows['refusals'][number]>[] = [
  timeColumn('At', 'at'),
  accountColumn(),
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Said', text: ({ message }) => message },
]

function Found<Row>({
  title,
  rows,
  columns,
}: {
  title: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
}) {
  if (rows.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <Table caption={title} columns={columns} rows={rows} empty="" />
    </>
  )
}
