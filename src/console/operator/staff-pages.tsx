// Who administers, with tokens of their own; who did what, and what came of it; and the search. Invariants: a new token is on
// the page once, and in nothing that is kept; of a key only what may be shown reaches the address.

import { navigate, params } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm, type FormField } from '../ui/form.tsx'
import { timeText } from '../ui/format.ts'
import { ErrorNote, QueryView, Snippet } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { accountColumn, ListPage, pageUrl, timeColumn, useAdminList } from './parts.tsx'

export type AuditLine = Responses['listAudit']['audit'][number]

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
    render: (line) => <span class={line.status !== null && line.status < 300 ? 'good' : 'bad'}>{outcome(line)}</span>,
  },
  { name: 'Sent', text: ({ sent }) => sent, render: ({ sent }) => <span title={sent}>{sent}</span> },
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
      paged={useAdminList<AuditLine>('audit', 'before', 'audit', AUDIT_FIELDS)}
      columns={AUDIT_COLUMNS}
      empty="Nothing like this was done."
      csv="audit"
    >
      <p>Everything but reading that staff did, or tried: written down before it is done, and never changed.</p>
    </ListPage>
  )
}

type Member = Responses['listStaff']['staff'][number]

const STAFF_FIELDS: readonly FormField[] = [
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
  const staff = useQuery<Responses['listStaff']>(() => '/admin/staff')
  const revoke = (name: string) =>
    requestChange('DELETE', `/admin/staff/${encodeURIComponent(name)}`, undefined, staff.reload)
  const columns: readonly Column<Member>[] = [
    { name: 'Name', text: ({ name }) => name },
    { name: 'Role', text: ({ role }) => role },
    timeColumn('Token made', 'created'),
    { name: 'State', text: ({ revoked }) => (revoked === null ? 'works' : `revoked ${timeText(revoked)}`) },
    {
      name: 'Actions',
      render: ({ name, revoked }) =>
        revoked === null && (
          <ConfirmButton
            buttonLabel="Revoke"
            label={`Revoke ${name}`}
            action="Revoke this token"
            name={name}
            onConfirm={() => revoke(name)}
          >
            <p>{name} is signed out everywhere at once. Their lines of the audit stay.</p>
          </ConfirmButton>
        ),
    },
  ]
  return (
    <>
      <h1>Staff</h1>
      <p>
        Whoever has ADMIN_TOKEN is “operator” and may do everything; all others have a token and a role of their own.
      </p>
      <ActionForm<Responses['createStaff']>
        submitLabel="Make a token"
        fields={STAFF_FIELDS}
        send={(order) => request('POST', '/admin/staff', order)}
        secretOf={({ name, token }) => ({ what: `The token of ${name}`, secret: token })}
        onDone={staff.reload}
      />
      <QueryView query={staff}>
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
                <Snippet line="npm run admin -- staff add kim --role support" />
              </>
            }
          />
        )}
      </QueryView>
    </>
  )
}

const PREFIX_LENGTH = 12

const shortenKeys = (text: string): string =>
  text.trim().replace(/\bcq[tso]_\w+/g, (key) => key.slice(0, PREFIX_LENGTH))

/** The field that stands above every page. */
export function SearchField() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const q = shortenKeys(String(new FormData(form).get('q') ?? ''))
    if (q !== '') navigate(pageUrl('search', { q }))
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
  const found = useQuery<Responses['search']>(() => {
    const asked = params.value.get('q') ?? ''
    return asked === '' ? null : `/admin/search?q=${encodeURIComponent(asked)}`
  })
  const { accounts = [], keys = [], refusals = [], audit = [] } = (q !== '' && found.value.value) || {}
  const isNothing = accounts.length + keys.length + refusals.length + audit.length === 0
  return (
    <>
      <h1>{q === '' ? 'Search' : `Found for “${q}”`}</h1>
      <ErrorNote trouble={found.error.value} again={found.reload} />
      {q !== '' && found.value.value && isNothing && (
        <p class="empty">
          Nothing: look for a part of an account’s name, the first characters of a key, or a whole request id.
        </p>
      )}
      <FoundTable title="Accounts" rows={accounts} columns={ACCOUNT_COLUMNS} />
      <FoundTable title="Keys" rows={keys} columns={KEY_COLUMNS} />
      <FoundTable title="Refused" rows={refusals} columns={REFUSAL_COLUMNS} />
      <FoundTable title="Done by staff" rows={audit} columns={AUDIT_COLUMNS} />
    </>
  )
}

type SearchRows = Responses['search']
const ACCOUNT_COLUMNS: readonly Column<SearchRows['accounts'][number]>[] = [
  accountColumn(),
  { name: 'Plan', text: ({ plan }) => plan },
]
const KEY_COLUMNS: readonly Column<SearchRows['keys'][number]>[] = [
  { name: 'Key', text: ({ prefix }) => prefix },
  accountColumn(),
  { name: 'Label', text: ({ label }) => label },
  timeColumn('Revoked', 'revoked', 'no'),
]
const REFUSAL_COLUMNS: readonly Column<SearchRows['refusals'][number]>[] = [
  timeColumn('At', 'at'),
  accountColumn(),
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Said', text: ({ message }) => message },
]

function FoundTable<Row>({
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
